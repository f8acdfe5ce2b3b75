import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Project, SyntaxKind } from 'ts-morph';
import { afterEach, describe, expect, it } from 'vitest';
import { generator, linkPackages, makeProject, repo, SEED, type TestProject } from './project.ts';

/** The parts of the command line whose offers are listed here; those about the schema are in `test/schema/pasted.test.ts`. */
const SOURCES = [
  'commands/{doctor,import,migrate}.ts',
  'commands/migrate/*.ts',
  'import/**/*.ts',
  'migrations/**/*.ts',
];

/** Every fix that the code offers: `file CODE` of an error or a finding, `file TEXT` of the others. */
function offers(): string[] {
  const project = new Project({ skipAddingFilesFromTsConfig: true });
  const files = project.addSourceFilesAtPaths(SOURCES.map((glob) => join(repo, 'generator', glob)));
  return files.flatMap((file) => {
    const name = file.getFilePath().slice(join(repo, 'generator/').length);
    return file
      .getDescendantsOfKind(SyntaxKind.PropertyAssignment)
      .filter((each) => each.getName() === 'fix' && each.getInitializer()!.getText() !== 'null')
      .map((each) => {
        const beside = each.getParentIfKind(SyntaxKind.ObjectLiteralExpression);
        const error = beside?.getParentIfKind(SyntaxKind.NewExpression)?.getArguments()[0];
        const code = (error ?? beside?.getProperty('code'))?.getText().match(/'(\w+)'/)?.[1];
        return `${name} ${
          code ??
          each
            .getInitializer()!
            .getText()
            .replaceAll(/^['`]|['`]$/g, '')
        }`;
      });
  });
}

let project: TestProject;
afterEach(() => project?.remove());

const run = (...words: string[]) => generator(words, project.root);

/** Carries out a fix that is a command, as it stands. */
async function carryOut(fix: string): Promise<void> {
  const [, script, rest = ''] = /^npm run (generate|check|migrate)(?: -- (.+))?$/.exec(fix) ?? [];
  const command = script ? `${script} ${rest}`.trim() : /^generator (.+)$/.exec(fix)?.[1];
  if (command === undefined) execFileSync('sh', ['-c', fix], { cwd: project.root });
  else expect(await run(...command.split(' '))).toMatchObject({ code: 0 });
}

function make(files: Record<string, string>): void {
  project = makeProject(files);
  linkPackages(project);
}

/** A check of `doctor` that is wrong, its fix carried out, and the same check. */
async function doctored(what: string): Promise<unknown> {
  const check = async () =>
    JSON.parse((await run('doctor', '--json')).stdout).checks.find(
      (each: { what: string; fix?: string }) => each.what === what && each.fix !== undefined,
    );
  const wrong = await check();
  expect(wrong, what).toMatchObject({ fix: expect.any(String) });
  await carryOut(wrong.fix);
  const after = await check();
  return after?.text === wrong.text ? after : undefined;
}

const fixOf = (stderr: string) => /^\s*fix\s+(.+)$/m.exec(stderr)![1]!;

const PRISMA = `datasource db {
  provider = "sqlite"
}
model User {
  id Int @id
}
`;

/** A fix that is carried out as it stands, and what it ends. */
const CARRIED_OUT: Readonly<Record<string, () => Promise<void>>> = {
  'commands/doctor.ts echo "${name}=$(openssl rand -base64 32)" >> .env': async () => {
    make({ 'schema.graphql': SEED, 'manifest.yaml': 'name: shop\nauth: {}\n', '.env': '' });
    chmodSync(project.path('.env'), 0o600);
    expect(await doctored('secrets')).toBeUndefined();
  },
  'commands/doctor.ts chmod 600 .env': async () => {
    make({ 'schema.graphql': SEED, 'manifest.yaml': 'name: shop\n', '.env': '' });
    chmodSync(project.path('.env'), 0o644);
    expect(await doctored('secrets')).toBeUndefined();
  },
  'commands/doctor.ts npm run generate': async () => {
    make({ 'schema.graphql': SEED, 'manifest.yaml': 'name: shop\n' });
    await run('generate');
    project.write('schema.graphql', SEED.replace('  name:', '  town: String\n  name:'));
    expect(await doctored('migrations')).toBeUndefined();
  },
  'commands/doctor.ts npm run migrate': async () => {
    make({ 'schema.graphql': SEED, 'manifest.yaml': 'name: shop\n' });
    await run('generate');
    expect(await doctored('database')).toBeUndefined();
  },
  'migrations/findings.ts COLUMN_KEPT': async () => {
    make({ 'schema.graphql': SEED, 'manifest.yaml': 'name: shop\n' });
    await run('generate');
    await run('migrate');
    project.write('schema.graphql', SEED.replace('  email: String!\n', ''));
    const kept = await run('generate');
    expect(kept.stderr).toContain('COLUMN_KEPT');
    await carryOut(fixOf(kept.stderr));
    expect((await run('generate')).stderr).not.toContain('COLUMN_KEPT');
    expect(await run('migrate')).toMatchObject({ code: 0 });
  },
  'migrations/findings.ts RENAME_AMBIGUOUS': async () => {
    const asked = async () => {
      make({ 'schema.graphql': SEED, 'manifest.yaml': 'name: shop\n' });
      await run('generate');
      await run('migrate');
      project.write('schema.graphql', SEED.replace('  name:', '  fullName:'));
      const { code, stderr } = await run('generate');
      expect([code, stderr]).toEqual([5, expect.stringContaining('RENAME_AMBIGUOUS')]);
      return /to rename: (.+?) on the new field; to drop the old one: (.+?); to keep/.exec(stderr)!;
    };
    const [, renamed] = await asked();
    const sdl = SEED.replace('  name: String!', `  fullName: String! ${renamed}`);
    project.write('schema.graphql', sdl);
    expect(await run('generate')).toMatchObject({ code: 0 });
    expect(await run('migrate')).toMatchObject({ code: 0 });
    project.remove();
    const [, , drop] = await asked();
    expect(await run('generate', ...drop!.split(' '))).toMatchObject({ code: 0 });
    expect(await run('migrate')).toMatchObject({ code: 0 });
  },
  'migrations/findings.ts MIGRATION_NEEDS_VALUE': async () => {
    make({ 'schema.graphql': SEED, 'manifest.yaml': 'name: shop\n' });
    await run('generate');
    await run('migrate');
    const rows = new DatabaseSync(project.path('data/app.db'));
    rows.exec("insert into users (name, email) values ('Ada', 'ada@x.test')");
    rows.close();
    const sdl = SEED.replace('  name:', '  town: String!\n  name:');
    project.write('schema.graphql', sdl);
    const { stderr } = await run('generate');
    const [, value, file] = /as (@default\(.+?\)), .* delete (\S+), and npm run generate/.exec(
      stderr,
    )!;
    expect((await run('migrate')).code).not.toBe(0);
    project.write('schema.graphql', sdl.replace('town: String!', `town: String! ${value}`));
    rmSync(project.path(file!));
    const again = await run('generate');
    expect([again.code, again.stderr]).toEqual([0, expect.not.stringContaining('NEEDS_VALUE')]);
    expect(await run('migrate')).toMatchObject({ code: 0 });
  },
  'commands/migrate/squash.ts MIGRATION_BY_HAND': async () => {
    make({ 'schema.graphql': SEED, 'manifest.yaml': 'name: shop\n' });
    await run('generate');
    await run('migrate', 'save');
    await run('migrate', 'new', 'fill');
    const [path] = Object.keys(project.files()).filter((name) => name.endsWith('_fill.ts'));
    const text = project.read(path!);
    project.write(
      path!,
      text.replace(
        /(up\(.*\{\n)/,
        "$1  await db.updateTable('users').set({ name: 'x' }).execute();\n",
      ),
    );
    const { code, stderr } = await run('migrate', 'squash');
    expect([code, stderr]).toEqual([5, expect.stringContaining('MIGRATION_BY_HAND')]);
    const [, from] = /squash what follows: (.+)/.exec(stderr)!;
    expect(await run('migrate', 'squash', ...from!.split(' '))).toMatchObject({ code: 0 });
    expect(project.has(path!)).toBe(true);
    const words = /leave them out: (.+?); or/.exec(stderr)![1]!;
    expect(await run('migrate', 'squash', ...words.split(' '))).toMatchObject({ code: 0 });
    expect(project.has(path!)).toBe(false);
  },
  'commands/migrate/squash.ts OPTION_VALUE': async () => {
    make({ 'schema.graphql': SEED, 'manifest.yaml': 'name: shop\n' });
    await run('generate');
    const { code, stderr } = await run('migrate', 'squash', '--from', 'init');
    expect(code).toBe(2);
    await carryOut(fixOf(stderr));
  },
  'migrations/findings.ts DROP_UNKNOWN': async () => {
    make({ 'schema.graphql': SEED, 'manifest.yaml': 'name: shop\n' });
    await run('generate');
    project.write('schema.graphql', SEED.replace('  email: String!\n', ''));
    const { stderr } = await run('generate', '--allow-drop', 'User.emial');
    const near = /did you mean (\S+)\?/.exec(stderr)![1]!;
    expect(await run('generate', '--allow-drop', near)).toMatchObject({ code: 0 });
  },
  'commands/migrate/call.ts NAME_INVALID': async () => {
    make({ 'schema.graphql': SEED, 'manifest.yaml': 'name: shop\n' });
    await run('generate');
    const { code, stderr } = await run('migrate', 'new', 'fill-in');
    expect(code).toBe(2);
    await carryOut(fixOf(stderr));
  },
  'commands/import.ts UNKNOWN_SOURCE': async () => {
    make({ 'schema.prisma': PRISMA });
    const { stderr } = await run('import', 'prism', 'schema.prisma');
    expect(fixOf(stderr).split(/, | /)).toContain('prisma');
    expect(await run('import', 'prisma', 'schema.prisma')).toMatchObject({ code: 0 });
  },
  'commands/migrate.ts UNKNOWN_STEP': async () => {
    make({ 'schema.graphql': SEED, 'manifest.yaml': 'name: shop\n' });
    await run('generate');
    const { stderr } = await run('migrate', 'stats');
    expect(fixOf(stderr)).toContain('status');
    expect(await run('migrate', 'status')).toMatchObject({ code: 0 });
  },
  'import/database/read-database.ts SCHEMA_UNMANAGED': async () => {
    make({});
    new DatabaseSync(project.path('a.db')).exec('create table a (id integer primary key)');
    const words = ['import', 'db', 'file:a.db', '--schema', 'other'];
    const { stderr } = await run(...words, '--managed');
    expect(fixOf(stderr)).toContain('leave --managed out');
    expect(await run(...words)).toMatchObject({ code: 0 });
  },
  'import/plan-import.ts SCHEMA_NOT_IMPORTED': async () => {
    make({ 'schema.graphql': SEED, 'schema.prisma': PRISMA });
    const { stderr } = await run('import', 'prisma', 'schema.prisma');
    expect(fixOf(stderr)).toContain('into an empty folder');
    project.remove();
    make({});
    writeFileSync(project.path('schema.prisma'), PRISMA);
    expect(await run('import', 'prisma', 'schema.prisma')).toMatchObject({ code: 0 });
  },
};

/** Offers that no test carries out here, and why. */
const IN_WORDS: Readonly<Record<string, string>> = {
  'commands/doctor.ts npm run check': 'shows the findings, each of which has its own fix',
  'commands/doctor.ts npm install': 'a registry',
  'commands/doctor.ts PORT=8081 npm start': 'a server that runs on, on another port',
  'commands/doctor.ts mend the settings first': 'another check of the same list says what to do',
  'commands/doctor.ts change it in .env or in manifest.yaml': 'the text names the setting',
  'commands/doctor.ts error.fix': 'the fix of another error',
  "commands/doctor.ts error.fix ?? 'look at DATABASE_URL in .env":
    'the fix of another error, else the address of a database',
  'commands/doctor.ts start Docker, or: systemctl --user start podman.socket':
    'an engine of the machine',
  'commands/import.ts NOTHING_TO_IMPORT': 'tables of others',
  'import/database/read-database.ts URL_MISSING': 'an example of an address',
  'import/hasura/import-metadata.ts URL_MISSING': 'an example of an address',
  'import/hasura/read-metadata.ts METADATA_INCLUDE': 'a program of Hasura',
  'import/hasura/read-metadata.ts METADATA_VERSION': 'a program of Hasura',
  'import/hasura/read-metadata.ts SOURCE_MISSING': 'an example of a folder',
  'import/hasura/user-type.ts USER_UNFIT': 'a choice of a table',
  'import/prisma/import-file.ts SOURCE_MISSING': 'an example of a file',
  'import/prisma/read-prisma.ts PRISMA_SYNTAX': 'a program of Prisma',
  'commands/migrate.ts DATABASE_UNMANAGED': 'a change of a database that others made',
  'migrations/findings.ts IDS_CHANGED': 'a choice: test/generator/migrations/evolution.test.ts',
  'migrations/findings.ts MIGRATION_CHECKS_ROWS':
    'a choice: test/generator/migrations/evolution.test.ts',
  'migrations/findings.ts MIGRATION_CLASH': 'files that git has',
  'migrations/findings.ts MIGRATION_UNREADABLE':
    'lines of a file: test/generator/migrations/evolution.test.ts',
};

describe('what migrate, doctor and import offer', () => {
  it('is carried out below, or has the reason why not', () => {
    const known = [...Object.keys(CARRIED_OUT), ...Object.keys(IN_WORDS)];
    expect([...new Set(offers())].sort()).toEqual(known.sort());
  });

  it.each(Object.entries(IN_WORDS).filter(([, why]) => why.includes('.test.ts')))(
    'has a test elsewhere where the reason names one: %s',
    (offer, why) => {
      const [path] = /test\/\S+\.test\.ts/.exec(why)!;
      expect(readFileSync(join(repo, path), 'utf8')).toContain(offer.split(' ').at(-1));
    },
  );

  it.each(Object.keys(CARRIED_OUT))('works as it stands: %s', (offer) => CARRIED_OUT[offer]!());
});

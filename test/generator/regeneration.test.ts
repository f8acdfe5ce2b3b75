import { statSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { createTrialSave } from '../../generator/dev/trial-save.ts';
import { type RunPlan, run } from '../../generator/pipeline.ts';
import { disk } from '../../generator/write/disk.ts';
import { createKnown } from '../../schema/index.ts';
import { faultyDisk, Stopped } from './faulty-disk.ts';
import { makeProject, type TestProject } from './project.ts';
import { makeOlder } from './older-project.ts';
import { createRandom, type Random } from './random.ts';
import {
  changeSchema,
  printFiles,
  printSdl,
  type RandomSchema,
  startSchema,
} from './random-schema.ts';
import { editSomething, usersFiles } from './user-edits.ts';

/** REGENERATION_SEQUENCES=10000 for the long run, REGENERATION_SEED for another one. The seed of a failure is in its message. */
const SEQUENCES = Number(process.env['REGENERATION_SEQUENCES'] ?? 300);
const SEED = Number(process.env['REGENERATION_SEED'] ?? 1);
const STEPS = 4;

const made: TestProject[] = [];
const project = (files: Record<string, string>) => {
  const each = makeProject(files);
  made.push(each);
  return each;
};
afterEach(() => made.splice(0).forEach((each) => each.remove()));

const inputs = (schema: RandomSchema) => ({
  'schema.graphql': printSdl(schema),
  'manifest.yaml': 'name: shop\n',
});
const generate = (each: TestProject) => run(each.root, { allowDrop: [] }, disk);
const kinds = (plan: RunPlan) =>
  plan.changes.filter(({ kind }) => kind !== 'same').map(({ kind, path }) => `${kind} ${path}`);

describe('regeneration', () => {
  test(`loses no edit in ${SEQUENCES} random sequences of edits, schema changes and runs`, async () => {
    for (let seed = SEED; seed < SEED + SEQUENCES; seed++) {
      await expectNoLoss(createRandom(seed), `seed ${seed}`);
      if ((seed - SEED + 1) % 500 === 0)
        process.stderr.write(
          `${seed - SEED + 1} sequences without a loss, the last with seed ${seed}\n`,
        );
    }
  }, 20_000_000);

  test('writes the same bytes whatever came before', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const random = createRandom(seed);
      const first = startSchema(random);
      const second = changeSchema(changeSchema(first, random), random);
      const [walked, fresh] = [project(inputs(first)), project(inputs(second))];
      await generate(walked);
      walked.write('schema.graphql', printSdl(second));
      await run(
        walked.root,
        {
          allowDrop: [
            ...first.types.map(({ name }) => name),
            ...first.types.flatMap(({ name, fields }) =>
              fields.map((each) => `${name}.${each.name}`),
            ),
          ],
        },
        disk,
      );
      await generate(fresh);
      expect([seed, generated(walked)]).toEqual([seed, generated(fresh)]);
    }
  });

  test('writes the same bytes and says the same in a process that goes on as in a new one', async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const random = createRandom(seed);
      let schema = startSchema(random);
      const [going, fresh] = [project(inputs(schema)), project(inputs(schema))];
      const known = createKnown();
      const trial = createTrialSave(going.root, { known });
      for (let step = 0; step < 8; step++) {
        const settings = MANIFESTS[random.whole(MANIFESTS.length)];
        const text = `${printSdl(schema)}${EXTRAS[(seed + step) % EXTRAS.length]}`;
        for (const each of [going, fresh]) each.write('schema.graphql', text);
        for (const each of [going, fresh]) each.write('manifest.yaml', `name: shop\n${settings}`);
        const [warm, cold] = [
          await run(going.root, { known }, disk),
          await run(fresh.root, {}, disk),
        ];
        expect([seed, step, warm.findings, kinds(warm)]).toEqual([
          seed,
          step,
          cold.findings,
          kinds(cold),
        ]);
        for (let times = random.whole(3); times > 0; times--) await trial();
        expect([seed, step, withoutStamp(going)]).toEqual([seed, step, withoutStamp(fresh)]);
        if (random.chance(0.8)) schema = changeSchema(schema, random);
      }
    }
  });

  test('is tried up to the last file, and no file on disk changes', async () => {
    const shop = project(inputs(startSchema(createRandom(5))));
    await generate(shop);
    const before = shop.files();
    const said: string[] = [];
    const watched = Object.fromEntries(
      Object.entries(disk).map(([name, work]) => [
        name,
        (...args: never[]) => (said.push(name), (work as (...given: never[]) => unknown)(...args)),
      ]),
    ) as unknown as typeof disk;
    const known = createKnown();
    const trial = createTrialSave(shop.root, { known }, watched);
    for (let turn = 0; turn < 6; turn++) {
      const last = known.project;
      await trial();
      expect([turn, known.project === last]).toEqual([turn, false]);
      expect([turn, known.project?.sdl.includes('trial')]).toEqual([turn, turn % 2 === 0]);
    }
    expect(shop.files()).toEqual(before);
    expect([...new Set(said)].sort()).toEqual(
      ['list', 'read'].filter((name) => said.includes(name)),
    );
  });

  test('writes the same bytes in whatever order the disk lists files, and from one file or many', async () => {
    const schema = startSchema(createRandom(3), 5);
    const files = Object.entries(printFiles(schema));
    const [forwards, backwards] = [
      project(Object.fromEntries(files)),
      project(Object.fromEntries(files.toReversed())),
    ];
    await generate(forwards);
    await generate(backwards);
    expect(generated(forwards)).toEqual(generated(backwards));
  });

  test('removes its own files that nothing generates any more, and keeps those that were edited', async () => {
    const shop = project({
      'schema.graphql': 'type Query { a: Int }',
      'manifest.yaml': 'name: shop\nauth: {}\nhosting: {}\n',
    });
    await generate(shop);
    shop.write('src/generated/hosting.ts', `${shop.read('src/generated/hosting.ts')}// mine\n`);
    shop.write('manifest.yaml', 'name: shop\n');
    expect(kinds(await generate(shop))).toEqual(
      expect.arrayContaining(['remove src/generated/auth.ts', 'stale src/generated/hosting.ts']),
    );
    expect(shop.has('src/generated/auth.ts')).toBe(false);
    expect(shop.read('src/generated/hosting.ts')).toContain('// mine');
    shop.write('src/generated/own.ts', 'not listed, so not ours\n');
    await generate(shop);
    expect(shop.has('src/generated/own.ts')).toBe(true);
  });

  test('removes what older projects have more of, and merges with the texts of their folder', async () => {
    const shop = project(inputs(startSchema(createRandom(3))));
    await generate(shop);
    const fresh = withoutStamp(shop);
    makeOlder(shop);
    expect(shop.files()).toHaveProperty('.generator/base/README.md');
    const changes = kinds(await generate(shop));
    expect(changes).toContain('remove src/generated/openapi.json');
    expect(changes.filter((each) => each.includes('.generator/'))).toEqual([
      'create .generator/base.json',
      'remove .generator/base/.gitignore',
      'remove .generator/base/README.md',
    ]);
    expect(withoutStamp(shop)).toEqual(fresh);
    expect(shop.has('.generator/base')).toBe(false);

    makeOlder(shop);
    shop.write('README.md', `${shop.read('README.md')}\nMine.\n`);
    shop.write('manifest.yaml', 'name: shop\nhosting: {}\n');
    await generate(shop);
    expect(shop.read('README.md')).toMatch(/\/api\/apps[^]*\nMine\.\n$/);
    expect(shop.has('.generator/base')).toBe(false);
  });

  test('keeps an OpenAPI document of an older project that somebody edited', async () => {
    const shop = project(inputs(startSchema(createRandom(3))));
    await generate(shop);
    makeOlder(shop);
    shop.write('src/generated/openapi.json', '{ "mine": true }\n');
    expect(kinds(await generate(shop))).toContain('stale src/generated/openapi.json');
    expect(shop.read('src/generated/openapi.json')).toBe('{ "mine": true }\n');
    expect(shop.read('src/generated/app.ts')).not.toContain('openapi');
  });

  test('keeps files that the user deleted deleted', async () => {
    const shop = project(inputs(startSchema(createRandom(1))));
    await generate(shop);
    for (const path of ['src/server.ts', 'Dockerfile', 'test/smoke.test.ts'])
      (await import('node:fs')).rmSync(shop.path(path));
    expect(kinds(await generate(shop))).toEqual([]);
    expect(shop.has('Dockerfile')).toBe(false);
  });

  test('keeps the line ends of a checkout with CRLF, and sees no change in it', async () => {
    const shop = project(inputs(startSchema(createRandom(2))));
    await generate(shop);
    for (const [path, text] of Object.entries(shop.files()))
      shop.write(path, text.replaceAll('\n', '\r\n'));
    const before = shop.files();
    expect(kinds(await generate(shop))).toEqual([]);
    expect(shop.files()).toEqual(before);
    shop.write('manifest.yaml', 'name: shop\r\nserver: { port: 9000 }\r\n');
    expect(kinds(await generate(shop))).toEqual(
      expect.arrayContaining(['update src/generated/model.ts']),
    );
    expect(shop.read('src/generated/model.ts')).toMatch(/^[^\n]*\r\n/);
    expect(shop.read('src/generated/model.ts').replaceAll('\r\n', '')).not.toContain('\n');
  });
});

describe('a crash', () => {
  test.each(['of the first run', 'of a later run', 'of the first run over an older project'])(
    '%s leaves the old tree or the new one after the next run, at every point',
    async (when) => {
      const random = createRandom(7);
      const first = startSchema(random);
      const second = changeSchema(changeSchema(changeSchema(first, random), random), random);
      const wanted = project(inputs(first));
      if (when !== 'of the first run') await generate(wanted);
      if (when.endsWith('older project')) makeOlder(wanted);
      const old = wanted.files();
      const next = when === 'of a later run' ? second : first;
      wanted.write('schema.graphql', printSdl(next));
      await generate(wanted);
      for (let stopAt = 0; ; stopAt++) {
        const crashed = project({ ...old, ...inputs(next) });
        const dying = faultyDisk(disk, stopAt);
        const died = await run(crashed.root, { allowDrop: [] }, dying).then(
          () => false,
          (error: unknown) => error instanceof Stopped,
        );
        if (!died) return expect(stopAt).toBeGreaterThan(15);
        expectOldOrNew(crashed, old, wanted.files(), `stopped at ${stopAt}`);
        await generate(crashed);
        expect([stopAt, crashed.files()]).toEqual([stopAt, wanted.files()]);
      }
    },
  );

  test('followed by an edit keeps the edit', async () => {
    const shop = project(inputs(startSchema(createRandom(4))));
    for (let stopAt = 10; stopAt < 40; stopAt += 3) {
      await run(shop.root, {}, faultyDisk(disk, stopAt)).catch(() => {});
      shop.write('src/server.ts', `// mine ${stopAt}\n`);
      await generate(shop);
      expect(shop.read('src/server.ts')).toBe(`// mine ${stopAt}\n`);
    }
  });

  test('of a full disk says so and changes nothing', async () => {
    const shop = project(inputs(startSchema(createRandom(4))));
    await generate(shop);
    const before = shop.files();
    shop.write('manifest.yaml', 'name: shop\nserver: { port: 9000 }\n');
    const full = {
      ...disk,
      write: () =>
        Promise.reject(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' })),
    };
    await expect(run(shop.root, {}, full)).rejects.toThrow('ENOSPC');
    expect(shop.files()).toEqual({ ...before, 'manifest.yaml': shop.read('manifest.yaml') });
  });
});

describe('a file that is saved while a run is at work', () => {
  test('stops the run with 75, and nothing is written', async () => {
    const shop = project(inputs(startSchema(createRandom(5))));
    await generate(shop);
    const saved = `${shop.read('src/generated/app.ts')}// saved\n`;
    shop.write('manifest.yaml', 'name: shop\nserver: { port: 9000 }\nauth: {}\n');
    const before = { ...shop.files(), 'src/generated/app.ts': saved };
    let reads = 0;
    const editor = {
      ...disk,
      read: async (path: string) => {
        const text = await disk.read(path);
        if (path.endsWith('src/generated/app.ts') && ++reads === 1)
          shop.write('src/generated/app.ts', saved);
        return text;
      },
    };
    await expect(run(shop.root, {}, editor)).rejects.toMatchObject({ exitCode: 75 });
    expect(shop.files()).toEqual(before);
  });
});

describe('an input that is saved while a run is at work', () => {
  const saving = (save: (reads: number) => void) => {
    let reads = 0;
    return {
      ...disk,
      read: async (path: string) => {
        if (path.endsWith('generator.lock')) save(++reads);
        return disk.read(path);
      },
    };
  };

  test('is what is written, and of half a file there is no trace', async () => {
    const shop = project({
      'schema.graphql':
        'type Query {\n  a: Int\n}\n\ntype A {\n  id: ID!\n}\n\ntype B {\n  id: ID!\n}\n',
      'manifest.yaml': 'name: shop\n',
    });
    await generate(shop);
    const whole = shop.read('schema.graphql').replace('a: Int', 'b: Int');
    const fresh = project({ 'schema.graphql': whole, 'manifest.yaml': 'name: shop\n' });
    await generate(fresh);
    shop.write('schema.graphql', 'type Query {\n  b: Int\n}\n');
    const plan = await run(
      shop.root,
      {},
      saving((reads) => reads === 1 && shop.write('schema.graphql', whole)),
    );
    expect(plan.findings).toEqual([]);
    expect(withoutStamp(shop)).toEqual(withoutStamp(fresh));
  });

  test('stops the run with 75 when it never stands still, and nothing is written', async () => {
    const shop = project(inputs(startSchema(createRandom(5))));
    await generate(shop);
    const before = withoutStamp(shop);
    const text = shop.read('schema.graphql');
    await expect(
      run(
        shop.root,
        {},
        saving((reads) =>
          shop.write('schema.graphql', `${text}\ntype More${reads} {\n  id: ID!\n}\n`),
        ),
      ),
    ).rejects.toMatchObject({ exitCode: 75 });
    expect(withoutStamp(shop)).toEqual({
      ...before,
      'schema.graphql': shop.read('schema.graphql'),
    });
  });
});

/** What makes the types of other definitions other ones: extensions, what a scalar or an interface is, names that clash, the same twice, mistakes. */
const EXTRAS = [
  '',
  'extend type Query {\n  more: Int\n}\n',
  'scalar Extra\n\ntype Query2 {\n  a: Extra\n}\n',
  'type Extra {\n  b: Int\n}\n\ntype Query2 {\n  a: Extra\n}\n',
  'type Promise {\n  a: Int\n}\n\ntype Query2 {\n  a: Promise\n}\n',
  'interface Face {\n  a: Int\n}\n\ntype Extra implements Face {\n  a: Int\n}\n',
  'type Extra {\n  a: Int\n}\n',
  'type Extra {\n  a: Int\n}\n\nunion Some = Extra | Other\n\ntype Other {\n  a: Int\n}\n',
  'type Extra {\n  a: Int\n}\n\ntype Extra {\n  a: Int\n}\n',
  'type Extra {\n  a: Int\n  a: Missing\n}\n',
  'type Extra {\n  a: Int\n',
  'type Extra {\n  id: ID!\n  kind: Kind!\n  size: Int @constraint(min: 1, max: 5)\n}\n\nenum Kind {\n  A\n  B\n}\n',
  'type Extra {\n  id: ID!\n  kind: Kind!\n  size: Int @constraint(max: 5, min: 1)\n}\n\nenum Kind {\n  A\n  B\n  C\n}\n',
  'type Extra {\n  id: ID!\n  kind: Kind!\n  size: Int\n}\n\ntype Kind {\n  id: ID!\n  extras: [Extra!]!\n}\n',
  'type Extra @entity(table: "others") {\n  id: ID!\n  kind: Kind!\n  size: Int\n}\n\ntype Kind @entity(table: "sorts") {\n  id: ID!\n  extras: [Extra!]!\n}\n',
  'type Extra {\n  id: ID!\n  kind: Kind\n}\n\nscalar Kind\n',
  'type Extra {\n  id: ID!\n  kind: Kind\n}\n\ntype Kind {\n  word: String\n}\n',
];

/** What every part of the model may depend on. */
const MANIFESTS = [
  '',
  '',
  '',
  'api: { crud: true }\n',
  'api: { rest: true }\n',
  'api: { limits: { list: 7 } }\n',
  'auth: {}\n',
  'auth: { rate_limits: { login-ip: 5/1m, register-ip: 3/1m } }\n',
  'auth: { rate_limits: { register-ip: 3/1m, login-ip: 5/1m } }\n',
  'hosting: {}\n',
];

function withoutStamp(each: TestProject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(each.files()).filter(([path]) => !path.startsWith('.generator/')),
  );
}

async function expectNoLoss(random: Random, label: string): Promise<void> {
  let schema = startSchema(random);
  const shop = makeProject(inputs(schema));
  try {
    for (let step = 0; step < STEPS; step++) {
      for (let edits = random.whole(4); edits > 0; edits--)
        editSomething(
          shop,
          schema.types.map(({ name }) => name),
          random,
        );
      if (random.chance(0.7)) schema = changeSchema(schema, random);
      shop.write('schema.graphql', printSdl(schema));
      const before = usersFiles(shop.files());
      const plan = await generate(shop);
      const after = usersFiles(shop.files());
      for (const [path, text] of Object.entries(before))
        expect([label, step, path, after[path]]).toEqual([label, step, path, text]);
      if (plan.project === null) continue;
      expectNoEmptyFile(shop, label);
      await expectQuiet(shop, label);
    }
  } finally {
    shop.remove();
  }
}

/** A second run writes nothing: same bytes, same times. */
async function expectQuiet(shop: TestProject, label: string): Promise<void> {
  const files = shop.files();
  const times = Object.keys(files).map((path) => statSync(shop.path(path)).mtimeMs);
  expect([label, kinds(await generate(shop))]).toEqual([label, []]);
  expect([label, shop.files()]).toEqual([label, files]);
  expect(Object.keys(files).map((path) => statSync(shop.path(path)).mtimeMs)).toEqual(times);
}

function expectNoEmptyFile(shop: TestProject, label: string): void {
  const ours = Object.entries(shop.files()).filter(([path]) => path.startsWith('src/generated/'));
  expect([label, ours.filter(([, text]) => text === '')]).toEqual([label, []]);
}

function expectOldOrNew(
  shop: TestProject,
  old: Record<string, string>,
  next: Record<string, string>,
  label: string,
): void {
  const files = Object.entries(shop.files()).filter(([path]) => !path.startsWith('.generator/'));
  for (const [path, text] of files)
    expect([label, path, text === old[path] || text === next[path]]).toEqual([label, path, true]);
}

function generated(each: TestProject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(each.files()).filter(([path]) => path.startsWith('src/generated/')),
  );
}

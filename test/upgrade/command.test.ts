import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRandom } from '../generator/random.ts';
import { NEXT, next } from './made-up.ts';
import { madeUp, type Release, released, releasedVersions } from './releases.ts';
import { commit, generator, makeSubject, stateOf, type Subject, upgrade } from './subject.ts';

const first = releasedVersions()[0] as string;
let from: Release;
let to: Release;
let subject: Subject;
const path = (name: string) => join(subject.root, name);
const read = (name: string) => readFileSync(path(name), 'utf8');
const json = async (...words: string[]) => {
  const { code, stdout } = await upgrade(subject.root, to, '--json', ...words);
  return { ...JSON.parse(stdout), code } as Record<string, any>;
};

beforeAll(async () => {
  from = released(first);
  to = await madeUp(NEXT, next);
  subject = await makeSubject(2, from, createRandom(7));
}, 600_000);
afterAll(() => subject.remove());

describe('generator upgrade', () => {
  it('says with --dry-run what it would do and what is left, and writes nothing', async () => {
    const before = stateOf(subject.root);
    const tool = 'src/tools/report.ts';
    const text = read(tool).replace('\r\n', "\r\nexport const name = 'openContext';\r\n");
    writeFileSync(path(tool), text);
    expect(await json('--dry-run')).toMatchObject({
      ok: true,
      from: first,
      to: NEXT,
      dryRun: true,
      installed: false,
      changes: expect.arrayContaining([
        { path: 'package.json', owner: 'scaffold', change: 'update' },
        { path: tool, owner: 'user', change: 'update' },
        { path: `vendor/twofold-runtime-${NEXT}.tgz`, owner: 'generated', change: 'create' },
      ]),
      codemods: [
        { codemod: 'migration-steps', file: 'migrations/0001_init.ts', line: 1 },
        { codemod: 'createContext', file: tool, line: 1, what: 'openContext is createContext' },
        { file: tool, line: 5 },
        { file: tool, line: 6 },
      ],
      byHand: [{ file: tool, line: 2, what: 'a text names openContext' }],
      defaults: [{ path: ['api', 'limits', 'depth'], before: 12, after: 3 }],
    });
    commit(subject.root);
    expect(stateOf(subject.root)).toEqual({ ...before, [tool]: text });
  });

  it('names the breaking changes that touch the project, with their places', async () => {
    const { breaking } = await json('--dry-run');
    const made = breaking.filter(({ version }: { version: string }) => version === NEXT);
    expect(made).toMatchObject([
      {
        version: NEXT,
        places: expect.arrayContaining([{ file: 'src/tools/report.ts', line: 1 }]),
      },
      { text: '`api.rest` has other words.', places: [{ file: 'manifest.yaml', line: 4 }] },
      { text: 'Servers are kinder.', places: [] },
    ]);
  });

  it('is refused while something is not committed, without --force', async () => {
    writeFileSync(path('src/own.ts'), 'export {};\n');
    const before = stateOf(subject.root);
    expect(await json()).toMatchObject({
      code: 2,
      ok: false,
      error: { code: 'UNCOMMITTED', message: expect.stringContaining('src/own.ts') },
    });
    expect(stateOf(subject.root)).toEqual(before);
    commit(subject.root);
  });

  it('writes nothing when a generated file was edited', async () => {
    const file = 'src/generated/loaders.ts';
    const text = read(file);
    writeFileSync(path(file), `${text}// mine\n`);
    commit(subject.root);
    const before = stateOf(subject.root);
    const { code, stderr } = await upgrade(subject.root, to);
    expect([code, stderr]).toEqual([
      3,
      expect.stringContaining(`${file} is generated and was edited`),
    ]);
    expect(stateOf(subject.root)).toEqual(before);
    writeFileSync(path(file), text);
    commit(subject.root);
  });

  it('puts a conflict beside the file, names its place and ends with 4', async () => {
    writeFileSync(path('README.md'), read('README.md').replace(/^# .*/, '# Mine'));
    commit(subject.root);
    const { code, byHand } = await json();
    expect(code).toBe(4);
    expect(byHand).toContainEqual(
      expect.objectContaining({ codemod: 'merge', file: 'README.md.new', line: 1 }),
    );
    expect(read('README.md')).toMatch(/^# Mine/);
    expect(existsSync(path('README.md.new'))).toBe(true);
    commit(subject.root);
  });

  it('only goes forwards, and asks for a target that it can know', async () => {
    const older = await generator(to, ['upgrade', '--to', from.packs, '--json'], subject.root);
    expect([older.code, JSON.parse(older.stdout)]).toMatchObject([
      2,
      { error: { code: 'TARGET_OLDER' } },
    ]);
    const unnamed = await generator(to, ['upgrade', '--json'], subject.root);
    expect(JSON.parse(unnamed.stdout)).toMatchObject({ error: { code: 'TARGET_MISSING' } });
    const empty = await generator(to, ['upgrade', '--to', './src', '--json'], subject.root);
    expect(JSON.parse(empty.stdout)).toMatchObject({ error: { code: 'PACKS_MISSING' } });
  });
});

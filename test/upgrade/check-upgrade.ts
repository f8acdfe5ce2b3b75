import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isVendored } from '../../generator/packages/vendored.ts';
import { runFile, typecheck } from '../generator/project.ts';
import { withListedChanges } from './listed-changes.ts';
import { LATER, NEXT } from './made-up.ts';
import type { Release } from './releases.ts';
import {
  link,
  stateOf,
  type Subject,
  succeed,
  toolWith,
  upgrade,
  whileServing,
} from './subject.ts';
import { describedRoutes, fill, printedSchema, recordReads, rowsOf, signUp } from './traffic.ts';

/** What a server of a project says, and what is in its database. */
async function observe(root: string, token: string) {
  const observed = await whileServing(root, async (url, output) => ({
    schema: await printedSchema(url, token),
    traffic: await recordReads(url, token),
    described: await describedRoutes(url),
    warned: /run generator -- upgrade/.test(output()),
  }));
  return { ...observed, rows: rowsOf(root) };
}

/**
 * Upgrades a project and checks every promise: no edit is lost, types are strict, its own tests
 * pass, its schema, its rows and its recorded traffic are the same, and a second run does nothing.
 */
export async function checkUpgrade(subject: Subject, from: Release, to: Release): Promise<void> {
  const { root } = subject;
  const { token, filled } = await whileServing(root, async (url) => {
    const signedUp = await signUp(url);
    return { token: signedUp, filled: await fill(url, signedUp) };
  });
  expect([subject.name, filled > 0]).toEqual([subject.name, true]);
  const recorded = await observe(root, token);
  expect(recorded.warned).toBe(false);
  // What was refused for its cost is answered since lists inside lists are shorter.
  const costly = new Set(
    recorded.traffic.flatMap(({ asked, body }) => (body.includes('"TOO_COSTLY"') ? [asked] : [])),
  );
  const before = {
    ...recorded,
    traffic: recorded.traffic
      .filter(({ asked }) => !costly.has(asked))
      .map((each) => ({ ...each, body: withListedChanges(each.body, from.version) })),
  };
  const checkObserved = async (expected: typeof before) => {
    const { described, traffic, schema, ...observed } = await observe(root, token);
    const routes = described.routes.filter((each) => before.described.routes.includes(each));
    expect({
      ...observed,
      schema: withoutPages(schema, expected.schema),
      traffic: traffic.filter(({ asked }) => !costly.has(asked)),
      described: { ...described, routes },
    }).toEqual(expected);
    const refused = traffic.filter(({ asked, status }) => costly.has(asked) && status !== 200);
    expect(refused).toEqual([]);
  };
  // The new runtime runs the old code, and says by which command it becomes new.
  link(root, to);
  await checkObserved({ ...before, warned: true });
  link(root, from);
  await succeed(upgrade(root, to));
  link(root, to);
  checkFiles(subject, to);
  expect(await typecheck(root)).toEqual([]);
  const tests = await runFile(process.execPath, ['--test', 'test/**/*.test.ts'], root, clean());
  expect([tests.code, tests.code === 0 ? '' : tests.stdout]).toEqual([0, '']);
  await checkObserved(before);
  const after = stateOf(root);
  await succeed(upgrade(root, to, '--force'));
  expect(stateOf(root)).toEqual(after);
}

/** The lines of a schema as they were, where all that came are the arguments that page a list. */
function withoutPages(schema: string, before: string): string {
  const lines = before.split('\n');
  return schema
    .split('\n')
    .map((line, at) => {
      const bare = line.replace(/(\(|, )limit: Int, offset: Int\)/, (_, open: string) =>
        open === '(' ? '' : ')',
      );
      return lines[at] === bare ? bare : line;
    })
    .join('\n');
}

const NAMES: Readonly<Record<string, string>> = {
  [NEXT]: 'createContext',
  [LATER]: 'makeContext',
};

function checkFiles({ root, own, added, removed }: Subject, { version, packs }: Release): void {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  for (const [path, text] of Object.entries(own)) expect([path, read(path)]).toEqual([path, text]);
  for (const [path, line] of Object.entries(added))
    expect([path, read(path).includes(line.trim())]).toEqual([path, true]);
  for (const path of removed) expect([path, existsSync(join(root, path))]).toEqual([path, false]);
  expect(read('src/tools/report.ts')).toBe(toolWith(NAMES[version] as string));
  const vendored = readdirSync(join(root, 'vendor'));
  expect(vendored).toEqual(readdirSync(packs).filter(isVendored));
  for (const name of vendored)
    expect(readFileSync(join(root, 'vendor', name)).equals(readFileSync(join(packs, name)))).toBe(
      true,
    );
  expect(read('migrations/0001_init.ts')).toContain('export const steps');
  expect(read('.gitignore')).toContain('*.tmp');
  expect(read('src/generated/app.ts')).toContain(`generatedBy: '${version}'`);
}

/** Node's own test runner must not think that it runs inside another one. */
const clean = () => ({ NODE_TEST_CONTEXT: '', VITEST: '', NODE_ENV: '', NODE_OPTIONS: '' });

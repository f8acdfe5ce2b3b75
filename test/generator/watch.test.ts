import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createKnown } from '../../schema/index.ts';
import { createRuns, watchInputs } from '../../generator/commands/watch.ts';

const ends: (() => void)[] = [];
afterEach(() => ends.splice(0).forEach((end) => end()));

describe('watching the inputs', () => {
  it('sees what is saved while the first run is at work', async () => {
    const { write, calls } = await watched({
      first: async ({ write }) => write('schema.graphql', 'second'),
    });
    await until(() => calls.length >= 2);
    expect(calls[1]).toEqual(['schema.graphql']);
    write('schema.graphql', 'third');
    await until(() => calls.length >= 3);
    expect(calls[2]).toEqual(['schema.graphql']);
  });

  it('sees a file that is replaced by a rename, again and again', async () => {
    const { root, write, calls } = await watched();
    for (let save = 1; save <= 5; save++) {
      write('schema.graphql~', `save ${save}`);
      renameSync(join(root, 'schema.graphql~'), join(root, 'schema.graphql'));
      await until(() => calls.length > save);
      expect(calls[save]).toEqual(['schema.graphql']);
    }
  });

  it('sees files of a folder that was not there before', async () => {
    const { write, calls } = await watched();
    write('src/resolvers/User.ts', 'new folder');
    await until(() => calls.flat().includes('src/resolvers/User.ts'));
    expect(calls.flat()).toContain('src/resolvers/User.ts');
    const before = calls.length;
    await wait(100);
    write('src/resolvers/User.ts', 'again');
    await until(() => calls.length > before);
    expect(calls.at(-1)).toEqual(['src/resolvers/User.ts']);
  });

  it('makes one run of several saves, and one more of those that come while it runs', async () => {
    const { write, calls, gate } = await watched();
    gate.closed = true;
    for (const name of ['a', 'b', 'c']) write(`schema/${name}.graphql`, 'burst');
    await until(() => calls.length >= 2);
    for (const name of ['c', 'd', 'e']) write(`schema/${name}.graphql`, 'meanwhile');
    await wait(100);
    expect(calls).toHaveLength(2);
    gate.closed = false;
    await until(() => calls.length >= 3);
    expect(calls.slice(1).flat()).toEqual(
      expect.arrayContaining([
        'schema/a.graphql',
        'schema/b.graphql',
        'schema/c.graphql',
        'schema/d.graphql',
        'schema/e.graphql',
      ]),
    );
    await wait(100);
    expect(calls.length).toBeLessThanOrEqual(4);
  });

  it('passes on what the first run throws, and goes on after what a later one throws', async () => {
    const failures: unknown[] = [];
    const root = folder();
    const first = watchInputs(
      root,
      () => Promise.reject(new Error('first')),
      () => {},
    );
    await expect(first).rejects.toThrow('first');
    let runs = 0;
    const watcher = await watchInputs(
      root,
      async () => void (++runs === 2 && (await Promise.reject(new Error('second')))),
      (error) => failures.push(error),
    );
    ends.push(() => watcher.close());
    for (let run = 2; run <= 3; run++) {
      writeFileSync(join(root, 'schema.graphql'), `save ${run}`);
      await until(() => runs >= run && failures.length > 0);
    }
    expect([runs, failures.map(String)]).toEqual([3, ['Error: second']]);
  });
});

describe('runs', () => {
  it('are left out when the one before has read what they were asked for, and never else', async () => {
    const root = folder();
    const write = (text: string) => writeFileSync(join(root, 'schema.graphql'), text);
    write('type Query {\n  a: Int\n}\n');
    const run = createRuns(root, {});
    const seen = performance.now();
    expect(await run(new Set(), seen)).not.toBeNull();
    expect(await run(new Set(['schema.graphql']), seen)).toBeNull();
    expect(await run(new Set(['schema.graphql', 'src/plugins/own.ts']), seen)).not.toBeNull();
    expect(await run(new Set(['schema.graphql']), performance.now())).not.toBeNull();
    write('type Query {\n  b: Int\n}\n');
    expect((await run(new Set(['schema.graphql']), seen))?.project?.operations[0]?.name).toBe('b');
  });

  it.each([
    ['emptied', (path: string) => writeFileSync(path, '')],
    ['removed', (path: string) => rmSync(path, { force: true })],
  ])('say nothing of a file that an editor has %s to write it anew', async (_, clear) => {
    const path = join(folder(), 'schema.graphql');
    clear(path);
    // Asked for once the inputs were read.
    const options = {
      get known() {
        writeFileSync(path, 'type Query {\n  whole: Int\n}\n');
        return createKnown();
      },
    };
    const plan = await createRuns(join(path, '..'), options)(
      new Set(['schema.graphql']),
      performance.now(),
    );
    expect([
      plan?.findings.filter(({ severity }) => severity === 'error'),
      plan?.project?.operations[0]?.name,
    ]).toEqual([[], 'whole']);
  });
});

/** A folder that is watched, and the paths of each call. A closed gate holds runs up. */
async function watched({
  first,
}: { first?: (folder: { write: (path: string, text: string) => void }) => Promise<void> } = {}) {
  const root = folder();
  const write = (path: string, text: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write('schema.graphql', 'first');
  write('schema/a.graphql', 'first');
  const calls: string[][] = [];
  const gate = { closed: false };
  const changed = async (paths: ReadonlySet<string>) => {
    calls.push([...paths].sort());
    if (calls.length === 1) await first?.({ write });
    while (gate.closed) await wait(10);
  };
  const watcher = await watchInputs(root, changed, () => {});
  ends.push(() => watcher.close());
  return { root, write, calls, gate };
}

function folder(): string {
  const root = mkdtempSync(join(tmpdir(), 'twofold-watch-'));
  ends.push(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

async function until(done: () => boolean): Promise<void> {
  for (const end = Date.now() + 20_000; Date.now() < end && !done();) await wait(5);
}

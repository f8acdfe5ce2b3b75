import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { watchFolders } from '../../generator/watch-folders.ts';

const ends: (() => void)[] = [];
afterEach(() => ends.splice(0).forEach((end) => end()));

const FILE = 'src/resolvers/User.ts';

/** How editors save, each again and again. */
const EDITORS: Readonly<Record<string, (path: string, text: string) => void>> = {
  'writes into the file': (path, text) => writeFileSync(path, text),
  'empties the file and appends to it': (path, text) => {
    writeFileSync(path, '');
    appendFileSync(path, text);
  },
  'renames a new file over it': (path, text) => {
    writeFileSync(`${path}.tmp`, text);
    renameSync(`${path}.tmp`, path);
  },
  'moves the old file away first, as Vim does': (path, text) => {
    renameSync(path, `${path}~`);
    writeFileSync(path, text);
    unlinkSync(`${path}~`);
  },
  'keeps a copy and writes with a swap file beside it': (path, text) => {
    copyFileSync(path, `${path}.bak`);
    writeFileSync(join(dirname(path), '.User.ts.swp'), text);
    writeFileSync(path, text);
    unlinkSync(join(dirname(path), '.User.ts.swp'));
  },
  'removes the file and writes it anew': (path, text) => {
    unlinkSync(path);
    writeFileSync(path, text);
  },
};

describe('watching folders', () => {
  it.each(Object.entries(EDITORS))('sees each save of an editor that %s', async (_, save) => {
    const { root, saved } = await watched();
    for (let each = 0; each < 10; each++) {
      saved.clear();
      save(join(root, FILE), `export const version = ${each};\n`);
      await until(() => saved.has(FILE));
      expect([each, [...saved]]).toEqual([each, expect.arrayContaining([FILE])]);
      await wait(20);
    }
  });

  it('sees a file go', async () => {
    const { root, saved } = await watched();
    unlinkSync(join(root, FILE));
    await until(() => saved.has(FILE));
    expect([...saved]).toContain(FILE);
  });

  it('sees what a checkout of another branch changes, adds and removes, and back', async () => {
    const { root, write, saved, start } = watchable();
    const git = (...words: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...words], {
        cwd: root,
        stdio: 'ignore',
      });
    git('init', '-b', 'main');
    git('add', '.');
    git('commit', '-m', 'main');
    git('checkout', '-b', 'other');
    rmSync(join(root, 'src/resolvers'), { recursive: true });
    write('src/plugins/audit/log.ts', 'new folder');
    write('schema.graphql', 'other');
    git('add', '-A');
    git('commit', '-m', 'other');
    const changed = [FILE, 'schema.graphql', 'src/plugins/audit/log.ts'];
    await start();
    for (const branch of ['main', 'other', 'main']) {
      saved.clear();
      git('checkout', branch);
      await until(() => seenAll(saved, branch === 'main' ? changed.slice(0, 2) : changed.slice(1)));
      expect([branch, [...saved]]).toEqual([
        branch,
        expect.arrayContaining(branch === 'main' ? changed.slice(0, 2) : changed.slice(1)),
      ]);
      // The files of a folder that came are still watched.
      saved.clear();
      const file = branch === 'main' ? FILE : 'src/plugins/audit/log.ts';
      await wait(50);
      appendFileSync(join(root, file), '\n');
      await until(() => saved.has(file));
      expect([...saved]).toContain(file);
      git('checkout', '.');
      await wait(50);
    }
  });

  it('goes on in folders that are removed and made again, moved away and back', async () => {
    const { root, write, saved } = await watched();
    for (let each = 0; each < 5; each++) {
      rmSync(join(root, 'src'), { recursive: true });
      saved.clear();
      write(FILE, `made again ${each}`);
      await until(() => saved.has(FILE));
      expect([...saved]).toContain(FILE);
      renameSync(join(root, 'src'), join(root, 'away'));
      await wait(50);
      saved.clear();
      renameSync(join(root, 'away'), join(root, 'src'));
      await until(() => saved.has(FILE));
      expect([...saved]).toContain(FILE);
      await wait(50);
      saved.clear();
      write(FILE, `saved ${each}`);
      await until(() => saved.has(FILE));
      expect([...saved]).toContain(FILE);
    }
  });

  it('says nothing of packages, history, builds and data', async () => {
    const { write, saved } = await watched();
    for (const folder of ['node_modules/a', '.git', '.generator', 'vendor', 'data', 'dist'])
      write(`${folder}/file.ts`, 'left out');
    write('src/last.ts', 'seen');
    await until(() => saved.has('src/last.ts'));
    await wait(100);
    expect([...saved].filter((path) => path.includes('file.ts'))).toEqual([]);
  });

  it('follows no link round in a circle', async () => {
    const { root, write, saved, start } = watchable();
    symlinkSync('..', join(root, 'src/up'));
    await start();
    write(FILE, 'saved');
    await until(() => saved.has(FILE));
    expect([...saved]).toContain(FILE);
  });

  it('says nothing after it was closed', async () => {
    const { write, saved, watcher } = await watched();
    watcher.close();
    saved.clear();
    write(FILE, 'saved');
    write('src/more/a.ts', 'new folder');
    await wait(200);
    expect([...saved]).toEqual([]);
  });
});

const seenAll = (saved: ReadonlySet<string>, paths: readonly string[]) =>
  paths.every((path) => saved.has(path));

/** A folder with two files, to be watched. */
function watchable() {
  const root = mkdtempSync(join(tmpdir(), 'twofold-watch-'));
  ends.push(() => rmSync(root, { recursive: true, force: true }));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write('schema.graphql', 'first');
  write(FILE, 'first');
  const saved = new Set<string>();
  const start = async () => {
    const watcher = await watchFolders(root, (path) => void saved.add(path));
    ends.push(() => watcher.close());
    return watcher;
  };
  return { root, write, saved, start };
}

async function watched() {
  const made = watchable();
  return { ...made, watcher: await made.start() };
}

async function until(done: () => boolean): Promise<void> {
  for (const end = Date.now() + 10_000; Date.now() < end && !done();) await wait(5);
}

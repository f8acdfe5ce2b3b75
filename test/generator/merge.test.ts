import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { formatDiffs } from '../../generator/diff.ts';
import { run } from '../../generator/pipeline.ts';
import { mergeJson } from '../../generator/text/merge-json.ts';
import { mergeLines } from '../../generator/text/merge-lines.ts';
import { disk } from '../../generator/write/disk.ts';
import { generator, makeProject, SEED, type TestProject } from './project.ts';
import { createRandom, type Random } from './random.ts';

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

/** A text of lines that come from a few words, so that equal lines are common. */
const randomText = (random: Random) =>
  Array.from(
    { length: random.whole(20) },
    () => `${random.pick(['a', 'b', 'c', 'd', 'e'])}\n`,
  ).join('');

function randomEdit(text: string, random: Random): string {
  const lines = text.split('\n');
  for (let edits = 1 + random.whole(3); edits > 0; edits--)
    lines.splice(
      random.whole(lines.length),
      random.whole(3),
      ...Array.from({ length: random.whole(3) }, () => random.pick(['x', 'y', 'a', 'b'])),
    );
  return lines.join('\n');
}

describe('merging lines', () => {
  test('without a conflict gives what git merge-file gives', () => {
    const folder = mkdtempSync(join(tmpdir(), 'twofold-merge-'));
    const random = createRandom(1);
    let clean = 0;
    for (let round = 0; round < 150; round++) {
      const lines = Array.from({ length: 8 + random.whole(12) }, (_, at) => `line ${at}`);
      const [mine, theirs] = [spoil(lines, random), spoil(lines, random)];
      const paths = ['mine', 'base', 'theirs'].map((name) => join(folder, name));
      [mine, lines, theirs].forEach((each, at) =>
        writeFileSync(paths[at]!, `${each.join('\n')}\n`),
      );
      const merged = mergeLines(
        `${lines.join('\n')}\n`,
        `${mine.join('\n')}\n`,
        `${theirs.join('\n')}\n`,
      );
      const git = gitMerge(paths);
      if (git === null || merged.conflicts > 0) continue;
      expect([round, merged.text]).toEqual([round, git]);
      clean++;
    }
    rmSync(folder, { recursive: true });
    expect(clean).toBeGreaterThan(50);
  });

  test('keeps every line that only one side changed, whatever the texts are', () => {
    const random = createRandom(2);
    for (let round = 0; round < 3000; round++) {
      const base = randomText(random);
      const edited = randomEdit(base, random);
      expect(mergeLines(base, edited, base)).toEqual({ text: edited, conflicts: 0 });
      expect(mergeLines(base, base, edited)).toEqual({ text: edited, conflicts: 0 });
      expect(mergeLines(base, edited, edited)).toEqual({ text: edited, conflicts: 0 });
    }
  });

  test('marks what both sides changed in different ways', () => {
    expect(mergeLines('a\nb\nc\n', 'a\nmine\nc\n', 'a\ntheirs\nc\n')).toEqual({
      text: 'a\n<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> generated\nc\n',
      conflicts: 1,
    });
  });
});

/** Changes some lines that are not next to each other. */
function spoil(lines: readonly string[], random: Random): string[] {
  return lines.flatMap((line, at) =>
    random.chance(0.12)
      ? random.pick([[], [`${line}!${random.whole(9)}`], [line, `new ${at}`]])
      : [line],
  );
}

function gitMerge([mine, base, theirs]: readonly string[]): string | null {
  try {
    return execFileSync('git', ['merge-file', '-p', mine!, base!, theirs!], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return null;
  }
}

describe('a diff', () => {
  test('is what patch needs to get from the old text to the new one', () => {
    const folder = mkdtempSync(join(tmpdir(), 'twofold-diff-'));
    const random = createRandom(3);
    for (let round = 0; round < 60; round++) {
      const [before, after] = [`${randomText(random)}end\n`, `${randomText(random)}end\n`];
      writeFileSync(join(folder, 'file'), before);
      writeFileSync(
        join(folder, 'diff'),
        formatDiffs([{ path: 'file', owner: 'generated', kind: 'update', before, after }]),
      );
      if (before !== after)
        execFileSync(
          'git',
          ['apply', '--unsafe-paths', '--recount', '--unidiff-zero', '-p1', 'diff'],
          { cwd: folder },
        );
      expect([round, execFileSync('cat', ['file'], { cwd: folder, encoding: 'utf8' })]).toEqual([
        round,
        after,
      ]);
    }
    rmSync(folder, { recursive: true });
  });
});

describe('merging JSON', () => {
  test('takes what either side changed, and keeps the order and indent of mine', () => {
    const base = '{"scripts":{"a":"1"},"deps":{"x":"1","y":"1"}}';
    expect(
      mergeJson(
        base,
        '{\n\t"deps": {"y": "1", "x": "2"},\n\t"scripts": {"a": "1", "mine": "m"}\n}',
        '{"scripts":{"a":"1","b":"2"},"deps":{"x":"1","y":"3"}}',
      ),
    ).toBe(
      '{\n\t"deps": {\n\t\t"y": "3",\n\t\t"x": "2"\n\t},\n\t"scripts": {\n\t\t"a": "1",\n\t\t"mine": "m",\n\t\t"b": "2"\n\t}\n}\n',
    );
  });
  test('gives up where both changed one value, and on what is no object', () => {
    expect(mergeJson('{"a":1}', '{"a":2}', '{"a":3}')).toBeNull();
    expect(mergeJson('{"a":1}', '{ // comment\n "a": 1 }', '{"a":3}')).toBeNull();
  });
});

describe('the scaffold', () => {
  const start = async () => {
    const shop = makeProject({ 'schema.graphql': SEED, 'manifest.yaml': 'name: shop\n' });
    made.push(shop);
    await run(shop.root, {}, disk);
    return shop;
  };

  test('follows the manifest where the user did not touch it, and keeps what they wrote', async () => {
    const shop = await start();
    shop.write('README.md', `${shop.read('README.md')}\nMine.\n`);
    shop.write(
      'package.json',
      shop.read('package.json').replace('"scripts": {', '"scripts": {\n    "mine": "echo mine",'),
    );
    shop.write('manifest.yaml', 'name: shop\nhosting: {}\n');
    expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0 });
    expect(shop.read('README.md')).toMatch(/\/api\/apps[^]*\nMine\.\n$/);
    expect(shop.read('.env.example')).toContain('HOST_PASSWORD=');
    expect(JSON.parse(shop.read('package.json'))).toMatchObject({
      scripts: { mine: 'echo mine', start: 'node src/server.ts' },
    });
  });

  test('that both sides changed waits in a .new file with exit 4, until that is removed', async () => {
    const shop = await start();
    const mine = shop
      .read('README.md')
      .replace('| `/api/health` | whether it is up |', '| my own table |');
    shop.write('README.md', mine);
    shop.write('manifest.yaml', 'name: shop\nhosting: {}\n');
    const conflict = await generator(['generate'], shop.root);
    expect(conflict.code).toBe(4);
    expect(conflict.stderr).toContain('README.md.new');
    expect(shop.read('README.md')).toBe(mine);
    expect(shop.read('README.md.new')).toMatch(
      /<<<<<<< yours\n[^]*my own table[^]*=======\n[^]*\/api\/apps[^]*>>>>>>> generated/,
    );
    expect(await generator(['generate'], shop.root)).toMatchObject({ code: 4 });
    (await import('node:fs')).rmSync(shop.path('README.md.new'));
    expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0 });
    expect(await generator(['check'], shop.root)).toMatchObject({ code: 0 });
    expect(shop.read('README.md')).toBe(mine);
  });

  test('starts from what the last run wrote, whatever a merge of branches made of that file', async () => {
    const shop = await start();
    const base = shop.read('.generator/base.json');
    const mine = `${shop.read('README.md')}\nMine.\n`;
    const entry = base.split('\n').find((line) => line.startsWith('  "README.md"'))!;
    const other = entry.replace('# shop', '# shop of another branch');
    expect(other).not.toBe(entry);
    const merged = [
      base.replace(entry, `<<<<<<< HEAD\n${entry}\n=======\n${other}\n>>>>>>> left`),
      base.replace(entry, `${entry}\n${other}`),
      base.replace(entry, `${other}\n${entry}`),
      base.replaceAll('\n', '\r\n'),
    ];
    for (const text of merged) {
      shop.write('manifest.yaml', 'name: shop\n');
      await run(shop.root, {}, disk);
      shop.write('README.md', mine);
      shop.write('.generator/base.json', text);
      shop.write('manifest.yaml', 'name: shop\nhosting: {}\n');
      expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0 });
      expect(shop.read('README.md')).toMatch(/^# shop\n[^]*\/api\/apps[^]*\nMine\.\n$/);
      expect(JSON.parse(shop.read('.generator/base.json'))['README.md']).toContain('/api/apps');
      expect(await generator(['check'], shop.root)).toMatchObject({ code: 0 });
    }
    expect(shop.has('.generator/rescued')).toBe(false);
  });

  test('keeps the lines of the user where that file says nothing, and writes it again', async () => {
    const shop = await start();
    const base = shop.read('.generator/base.json');
    const mine = `${shop.read('README.md')}\nMine.\n`;
    shop.write('README.md', mine);
    for (const text of ['', '{}', 'not JSON', '{ "README.md": 1 }', '{\n  "README.md": "\\x"\n}']) {
      shop.write('.generator/base.json', text);
      expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0 });
      expect([shop.read('README.md'), shop.read('.generator/base.json')]).toEqual([mine, base]);
    }
  });

  test('that was there before is left alone', async () => {
    const shop = makeProject({
      'schema.graphql': SEED,
      'manifest.yaml': 'name: shop\n',
      'README.md': 'mine\n',
      Dockerfile: '',
    });
    made.push(shop);
    await run(shop.root, {}, disk);
    shop.write('manifest.yaml', 'name: shop\nhosting: {}\nserver: { port: 9000 }\n');
    await run(shop.root, {}, disk);
    expect([shop.read('README.md'), shop.read('Dockerfile')]).toEqual(['mine\n', '']);
  });
});

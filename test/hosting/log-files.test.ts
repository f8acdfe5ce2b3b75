import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { LogLine, LogOptions, PlacedLine } from '../../runtime/hosting/engine/engine.ts';
import { MISSING, readLogFiles } from '../../runtime/hosting/engine/logs/file-source.ts';
import { openGenerations } from '../../runtime/hosting/engine/logs/generations.ts';
import {
  type LogPlace,
  createRecordParser,
  type LogFormat,
} from '../../runtime/hosting/engine/logs/records.ts';

/** What the engines write, written by the tests: no engine is needed here. */
const ID = 'c0ffee'.repeat(10);
const root = mkdtempSync(join(tmpdir(), 'tf-log-files-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folders = 0;
/** The path of a log that does not exist yet. */
function newLog(): string {
  const folder = join(root, `${(folders += 1)}`, ID);
  mkdirSync(folder, { recursive: true });
  return join(folder, `${ID}.log`);
}

const timeOf = (number: number) => `2026-01-02T03:04:05.${String(number).padStart(9, '0')}Z`;

/** A record as the engines write it: Docker leaves out the last zeros of a time, and writes `<` as it may stand in a page. */
function record(format: LogFormat, { stream, time, text }: LogLine, ends = true): string {
  if (format === 'k8s-file')
    return `${time.replace('Z', '+00:00')} ${stream} ${ends ? 'F' : 'P'} ${text}\n`;
  const log = JSON.stringify(text + (ends ? '\n' : '')).replaceAll('<', '\\u003c');
  return `{"log":${log},"stream":"${stream}","time":"${time.replace(/\.?0*Z$/, 'Z')}"}\n`;
}

const line = (number: number, text = `line ${number}`): LogLine => ({
  stream: 'stdout',
  time: timeOf(number),
  text,
});
const records = (format: LogFormat, from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => record(format, line(from + index))).join('');

/** Reads a log that its engine writes until `end` is called. */
async function open(path: string, format: LogFormat, options: LogOptions = {}) {
  const generations = await openGenerations({ path, id: ID, format });
  if (!generations) throw new Error(`${path} was not opened`);
  let end = () => {};
  const place: LogPlace = {
    path,
    format,
    open: true,
    watchEnd: (onEnd) => ((end = onEnd), { close: () => {} }),
  };
  const lines = readLogFiles(place, generations, options);
  return { lines, generations, end: () => end() };
}

async function readAll(
  path: string,
  format: LogFormat,
  options: LogOptions = {},
): Promise<PlacedLine[]> {
  const { lines, generations } = await open(path, format, options);
  const found = (await Array.fromAsync(lines)).flat();
  await generations.close();
  return found;
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `line ${from + index}`);
const texts = (lines: readonly LogLine[]) => lines.map(({ text }) => text);
const FORMATS = ['json-file', 'k8s-file'] as const;

describe.each(FORMATS)('records of %s', (format) => {
  const parse = (text: string) => {
    const parser = createRecordParser(format);
    const found: LogLine[] = [];
    parser.push(text, found);
    return [...found, ...parser.end()];
  };

  it('become the lines they were, whatever is in them', () => {
    const anyLine = fc.record({
      stream: fc.constantFrom('stdout' as const, 'stderr' as const),
      time: fc.nat(999_999_999).map(timeOf),
      text: fc
        .string({ unit: 'binary' })
        .map((text) => text.replaceAll('\n', '').replace(/\r+$/, '')),
    });
    fc.assert(
      fc.property(
        fc.array(anyLine),
        (lines) =>
          void expect(parse(lines.map((each) => record(format, each)).join(''))).toEqual(lines),
      ),
    );
  });

  it('that hold pieces of a line are joined, with the time of the last', () => {
    const between: LogLine = { stream: 'stderr', time: timeOf(2), text: 'between' };
    const text =
      record(format, line(1, 'a\\'), false) +
      record(format, between) +
      record(format, line(3, 'nb')) +
      record(format, line(4, 'no end'), false);
    expect(parse(text)).toEqual([between, line(3, 'a\\nb'), line(4, 'no end')]);
  });

  it('that are none are left out', () => {
    const rubbish = [
      '',
      '{',
      '{"log":"half',
      '{"log":"x\\n","stream":"stdin","time":"2026-01-02T03:04:05Z"}',
      '\0\0\0',
      '2026-01-02T03:04:05Z',
      '2026-01-02T03:04:05Z stdout',
      'never stdout F x',
      '2026-01-02T03:04:05Z stdout X x',
      '"","stream":"stdout","time":""}',
    ];
    expect(
      parse(
        record(format, line(1)) +
          rubbish.map((each) => `${each}\n`).join('') +
          record(format, line(2)),
      ),
    ).toEqual([line(1), line(2)]);
  });

  it('lose the return before a line end, and no other', () => {
    expect(
      texts(
        parse(
          record(format, line(1, 'a\rb\r')) +
            record(format, line(2, '\r')) +
            record(format, line(3, '')),
        ),
      ),
    ).toEqual(['a\rb', '', '']);
  });
});

it('records with labels of the container in them are read too, and cannot pass for others', () => {
  const found: LogLine[] = [];
  const attrs = '"attrs":{"a":"b","stream":"stdout","time":"2026-01-02T03:04:05Z"}';
  createRecordParser('json-file').push(
    `{"log":"hello\\n","stream":"stderr",${attrs},"time":"${timeOf(1)}"}\n`,
    found,
  );
  expect(found).toEqual([{ stream: 'stderr', time: timeOf(1), text: 'hello' }]);
});

it('times of a machine in another zone are told in UTC', () => {
  const found: LogLine[] = [];
  createRecordParser('k8s-file').push(
    '2026-01-02T00:04:05.5+05:30 stdout F a\n2026-01-02T00:04:06.5+05:30 stdout F b\n2026-01-02T00:04:06.5-01:00 stdout F c\n',
    found,
  );
  expect(found.map(({ time }) => time)).toEqual([
    '2026-01-01T18:34:05.500000000Z',
    '2026-01-01T18:34:06.500000000Z',
    '2026-01-02T01:04:06.500000000Z',
  ]);
});

describe.each(FORMATS)('a log file of %s', (format) => {
  it('is read from its end, with the same places as from its beginning', async () => {
    // Many lines have one time, as conmon gives it; long ones need more than the first look.
    const path = newLog();
    const all = Array.from({ length: 5000 }, (_, index): LogLine => ({
      stream: index % 97 === 0 ? 'stderr' : 'stdout',
      time: timeOf(Math.floor(index / 130)),
      text: `${index} ${'x'.repeat(index % 50 === 0 ? 5000 : 10)}`,
    }));
    const text = all.map((each) => record(format, each));
    writeFileSync(`${path}.2`, text.slice(0, 1000).join(''));
    writeFileSync(`${path}.1`, text.slice(1000, 4900).join(''));
    writeFileSync(path, text.slice(4900).join(''));
    const whole = await readAll(path, format);
    expect(texts(whole)).toEqual(texts(all));
    for (const tail of [1, 3, 99, 100, 101, 500, 4000, 4999, 5000, 9999])
      expect(await readAll(path, format, { tail }), `${tail}`).toEqual(whole.slice(-tail));
    for (const at of [0, 1, 129, 130, 2500, 4998, 4999])
      expect(await readAll(path, format, { after: whole[at] }), `after ${at}`).toEqual(
        whole.slice(at + 1),
      );
    // A reader who has what an engine's stream gives in whole seconds misses nothing and has nothing twice.
    const { time, seen } = { time: '2026-01-02T03:04:05Z', seen: 700 };
    expect(await readAll(path, format, { after: { time, seen } })).toEqual(whole.slice(700));
    expect(await readAll(path, format, { since: Date.parse(time) / 1000 + 1 })).toEqual([]);
    expect(await readAll(path, format, { since: Date.parse(time) / 1000 + 0.9 })).toHaveLength(
      5000,
    );
  });

  it('counts the lines of one time from the first of them, however many there are', async () => {
    const path = newLog();
    const all = Array.from({ length: 5000 }, (_, index) =>
      line(index < 1000 ? index : 1000, `line ${index}`),
    );
    writeFileSync(path, all.map((each) => record(format, each)).join(''));
    const found = await readAll(path, format, { tail: 3 });
    expect(found.map(({ text, seen }) => [text, seen])).toEqual([
      ['line 4997', 3998],
      ['line 4998', 3999],
      ['line 4999', 4000],
    ]);
  });

  it('that ends in the middle of a record, a line or a letter goes on there', async () => {
    const path = newLog();
    const bytes = Buffer.from(
      record(format, line(1, 'grün'), false) +
        record(format, line(2, ' und blau')) +
        record(format, line(3, 'dritte'), false),
    );
    writeFileSync(path, '');
    const { lines, end, generations } = await open(path, format, { tail: 10, follow: true });
    const read = Array.fromAsync(lines);
    for (let at = 0; at < bytes.length; at += 7) {
      appendFileSync(path, bytes.subarray(at, at + 7));
      if (at % 3 === 0) await sleep(1);
    }
    end();
    expect(texts((await read).flat())).toEqual(['grün und blau', 'dritte']);
    await generations.close();
  });

  it('that is cut off is read from its beginning, and the reader is told', async () => {
    const path = newLog();
    writeFileSync(path, records(format, 0, 10));
    const { lines, end, generations } = await open(path, format, { tail: 2, follow: true });
    expect(texts((await lines.next()).value as PlacedLine[])).toEqual(numbers(8, 10));
    truncateSync(path);
    appendFileSync(path, records(format, 20, 22));
    const { value } = await lines.next();
    end();
    expect(texts(value as PlacedLine[])).toEqual([MISSING, ...numbers(20, 22)]);
    // Who goes on behind the notice has the lines behind it.
    expect(texts(await readAll(path, format, { after: value[0] }))).toEqual(numbers(20, 22));
    expect(await lines.next()).toMatchObject({ done: true });
    await generations.close();
  });
});

/** As each engine goes on in a new file. */
const ROTATE: Readonly<Record<LogFormat, (path: string) => void>> = {
  'json-file'(path) {
    for (const [from, to] of [
      [`${path}.1`, `${path}.2`],
      [path, `${path}.1`],
    ] as const)
      if (readdirSync(join(path, '..')).includes(from.slice(path.lastIndexOf('/') + 1)))
        renameSync(from, to);
    writeFileSync(path, '');
  },
  'k8s-file'(path) {
    writeFileSync(`${path}.tmp`, '');
    renameSync(`${path}.tmp`, path);
  },
};

describe.each(FORMATS)('a log of %s that goes on in a new file', (format) => {
  const rotate = ROTATE[format];

  it('is read to the end of the old one first', async () => {
    const path = newLog();
    writeFileSync(path, records(format, 0, 10));
    const { lines, end, generations } = await open(path, format, { follow: true });
    const read = Array.fromAsync(lines);
    for (let at = 10; at < 2000; at += 10) {
      appendFileSync(path, records(format, at, at + 5));
      if (at % 70 === 0) {
        rotate(path);
        await generations.look();
      }
      appendFileSync(path, records(format, at + 5, at + 10));
      if (at % 50 === 0) await sleep(15);
    }
    end();
    expect(texts((await read).flat())).toEqual(numbers(0, 2000));
    expect(generations.files).toHaveLength(1);
    await generations.close();
  });

  it('is held open for a slow reader, but no more than a few files of it, and he is told what he missed', async () => {
    const path = newLog();
    writeFileSync(path, records(format, 0, 10));
    const { lines, end, generations } = await open(path, format, { follow: true });
    const first = (await lines.next()).value as PlacedLine[];
    for (let at = 10; at < 500; at += 10) {
      rotate(path);
      appendFileSync(path, records(format, at, at + 10));
      await generations.look();
    }
    expect(generations.files.length).toBeLessThanOrEqual(30);
    end();
    const rest = (await Array.fromAsync(lines)).flat();
    const kept = texts(rest).filter((text) => text !== MISSING);
    expect(texts(first)).toEqual(numbers(0, 10));
    expect(texts(rest)[0]).toBe(MISSING);
    expect(kept).toEqual(numbers(500 - kept.length, 500));
    await generations.close();
    expect(openFiles(path)).toEqual([]);
  });
});

it('files that are renamed twice while they are opened are opened once, and in their order', async () => {
  const path = newLog();
  const write = (name: string, from: number) => {
    writeFileSync(name, records('json-file', from, from + 10));
    utimesSync(name, from, from);
  };
  write(path, 0);
  const generations = (await openGenerations({ path, id: ID, format: 'json-file' }))!;
  // What one sees who opens the first name, is held up for two files, and goes on to the next names.
  renameSync(path, `${path}.3`);
  write(path, 10);
  write(`${path}.1`, 20);
  linkSync(path, `${path}.2`);
  await generations.look();
  const first = await Promise.all(
    generations.files.map(
      async ({ handle }) => JSON.parse((await handle.readFile('utf8')).split('\n')[0]!).log,
    ),
  );
  expect(first).toEqual(['line 0\n', 'line 10\n', 'line 20\n']);
  await generations.close();
  expect(openFiles(path)).toEqual([]);
});

it('a reader is told when more files were filled and removed than he could see', async () => {
  const path = newLog();
  writeFileSync(path, records('json-file', 0, 10));
  const { lines, end, generations } = await open(path, 'json-file', { follow: true });
  const first = (await lines.next()).value as PlacedLine[];
  for (let at = 10; at < 60; at += 10) {
    ROTATE['json-file'](path);
    appendFileSync(path, records('json-file', at, at + 10));
  }
  end();
  expect([texts(first), texts((await Array.fromAsync(lines)).flat())]).toEqual([
    numbers(0, 10),
    [MISSING, ...numbers(30, 60)],
  ]);
  await generations.close();
});

/** What of a log this process has open. Others of its files may be closed while they are listed. */
function openFiles(path: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((number) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${number}`);
      return target.startsWith(path) ? [target] : [];
    } catch {
      return [];
    }
  });
}

it("a path is only followed when it is the container's, a file, and readable", async () => {
  const path = newLog();
  const elsewhere = join(root, 'elsewhere.log');
  writeFileSync(elsewhere, records('json-file', 0, 1));
  mkdirSync(`${path}-folder`);
  symlinkSync(elsewhere, `${path}-link`);
  execFileSync('mkfifo', [`${path}-pipe`]);
  const opened = async (each: string) =>
    (await openGenerations({ path: each, id: ID, format: 'json-file' })) !== null;
  for (const each of [
    path,
    elsewhere,
    `${path}-folder`,
    `${path}-link`,
    `${path}-pipe`,
    `x/${ID}`,
    '',
    `/proc/${ID}`,
  ])
    expect([each, await opened(each)]).toEqual([each, false]);
});

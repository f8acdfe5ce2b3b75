import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectEngine } from '../../runtime/hosting/engine/connect.ts';
import type {
  Engine,
  LogLine,
  LogOptions,
  PlacedLine,
} from '../../runtime/hosting/engine/engine.ts';
import { describeEachEngine } from '../engines/available.ts';
import { callEngine, engineJson } from '../engines/call-engine.ts';
import { importImage } from '../engines/import-image.ts';
import { createRun } from '../engines/run-container.ts';

const SOURCES = ['file', 'stream'] as const;
const LONG = 40_000;

/** What apps print that is not simply a line. `0xff` is no letter in UTF-8. */
const ODD = `
const { writeSync } = require('fs');
const out = (...parts) => writeSync(1, Buffer.concat(parts.map((part) => Buffer.from(part))));
out('first\\n', '\\n', 'return\\r\\n', 'a\\tb "c" \\\\n <d>\\n', 'gr\\u00fcn \\u{1f331}\\n', 'bad', [0xff], 'byte\\n');
out('x'.repeat(${LONG}), '\\n');
out('{"log":"no","stream":"stderr","time":"2026-01-01T00:00:00Z"}\\n', '2026-01-01T00:00:00.5Z stderr F no\\n');
out('no end');
`;
const ODD_LINES = [
  'first',
  '',
  'return',
  'a\tb "c" \\n <d>',
  'grün 🌱',
  'bad\ufffdbyte',
  'x'.repeat(LONG),
  '{"log":"no","stream":"stderr","time":"2026-01-01T00:00:00Z"}',
  '2026-01-01T00:00:00.5Z stderr F no',
  'no end',
];

/** So many lines at once, after a moment. */
const flood = (lines: number, size = 50) => `
const { writeSync } = require('fs');
const write = (data) => { for (let at = 0; at < data.length; ) { try { at += writeSync(1, data, at); } catch (error) { if (error.code !== 'EAGAIN') throw error; } } };
setTimeout(() => {
  for (let line = 0; line < ${lines}; line += 500) write(Buffer.from(Array.from({ length: 500 }, (_, index) => String(line + index).padEnd(${size}, '.') + '\\n').join('')));
}, 500);
`;

/** The same once it gets SIGUSR2; it says that it is ready first. */
const heldFlood = (lines: number) => `
const { once } = require('events');
const timer = setInterval(() => {}, 1000);
once(process, 'SIGUSR2').then(() => { clearInterval(timer); ${flood(lines)} });
console.log('ready');
`;
const numbered = (lines: readonly LogLine[]) =>
  lines.findIndex(({ text }, index) => Number.parseInt(text, 10) !== index);

describeEachEngine("a container's output", ({ kind, socket }) => {
  const run = createRun(socket);
  const engines = {} as Record<(typeof SOURCES)[number], Engine>;
  let image: string;
  beforeAll(async () => {
    image = await importImage(socket, 'twofold-test/node:1');
    for (const source of SOURCES)
      engines[source] = await connectEngine({ kind: 'auto', socket }, { HOSTING_LOGS: source });
  });
  afterAll(run.clear);

  const start = (script: string, more: object = {}) =>
    run.start(image, {
      Cmd: ['node', '-e', script],
      HostConfig: {
        LogConfig: {
          Type: 'json-file',
          Config:
            kind === 'docker' ? { 'max-size': '10m', 'max-file': '3' } : { 'max-size': '50m' },
        },
      },
      ...more,
    });
  const ended = (id: string) =>
    expect
      .poll(async () => (await engines.stream.inspect(id))?.state, { timeout: 30_000 })
      .toBe('stopped');
  const read = async (
    source: (typeof SOURCES)[number],
    id: string,
    options: LogOptions = {},
  ): Promise<PlacedLine[]> => (await Array.fromAsync(engines[source].logs(id, options))).flat();
  /** Reads to the end, and tells when the first lines have come. */
  const follow = (source: (typeof SOURCES)[number], id: string, options: LogOptions = {}) => {
    const { promise: began, resolve } = Promise.withResolvers<void>();
    const readAll = async () => {
      const found: PlacedLine[] = [];
      for await (const batch of engines[source].logs(id, { ...options, follow: true })) {
        found.push(...batch);
        resolve();
      }
      return found;
    };
    return { began, lines: readAll() };
  };
  const texts = (lines: readonly LogLine[]) => lines.map(({ text }) => text);

  describe.each(SOURCES)('read from the %s', (source) => {
    it('is what was printed, whatever that is', async () => {
      const id = await start(ODD);
      await ended(id);
      const all = await read(source, id);
      expect(texts(all)).toEqual(ODD_LINES);
      expect(texts(await read(source, id, { follow: true }))).toEqual(ODD_LINES);
      // The stream does not say whether a line that has no end yet will have one: it comes after the last three.
      expect(texts(await read(source, id, { follow: true, tail: 3 }))).toEqual(
        ODD_LINES.slice(source === 'file' ? -3 : -4),
      );
      // Podman's own stream joins the last two, when one has no end.
      for (const tail of source === 'file' || kind === 'docker' ? [1, 3] : [])
        expect(texts(await read(source, id, { tail }))).toEqual(ODD_LINES.slice(-tail));
      expect(texts(await read(source, id, { since: Math.floor(Date.now() / 1000) + 60 }))).toEqual(
        [],
      );
      expect(texts(await read(source, id, { since: Math.floor(Date.now() / 1000) - 600 }))).toEqual(
        ODD_LINES,
      );
      for (const at of [0, 3, 6, 8])
        expect(texts(await read(source, id, { after: all[at] })), `after ${at}`).toEqual(
          ODD_LINES.slice(at + 1),
        );
    });

    it('is followed to the last line, by many at once, whenever they came', async () => {
      const lines = source === 'file' ? 50_000 : 5000;
      const id = await start(heldFlood(lines));
      const first = Array.from({ length: source === 'file' ? 20 : 3 }, () =>
        follow(source, id, { tail: 10 }),
      );
      await Promise.all(first.map(({ began }) => began));
      const path = `/containers/${id}/kill?signal=SIGUSR2`;
      expect((await callEngine(socket, { method: 'POST', path })).status).toBe(204);
      const late = follow(source, id);
      for (const found of await Promise.all([...first, late].map(({ lines }) => lines))) {
        const [ready, ...printed] = found;
        expect([ready?.text, printed.length, numbered(printed)]).toEqual(['ready', lines, -1]);
      }
    });

    it('goes on when the container has been started again', async () => {
      const id = await start('console.log("once " + process.pid)');
      await ended(id);
      const before = await read(source, id, { follow: true });
      await engines.stream.start(id);
      const after = await read(source, id, { follow: true, after: before.at(-1) });
      expect([before, after].map((lines) => texts(lines).map((text) => text.slice(0, 4)))).toEqual([
        ['once'],
        ['once'],
      ]);
      await ended(id);
      expect(await read(source, id)).toHaveLength(2);
    });

    it('ends with the container that is removed, and with the reader who goes away', async () => {
      const id = await start('console.log("here"); setInterval(() => {}, 1000)');
      const abort = new AbortController();
      const stopped = read(source, id, { follow: true, tail: 5, signal: abort.signal });
      const followed = read(source, id, { follow: true });
      await sleep(1000);
      abort.abort();
      expect(texts(await stopped)).toEqual(['here']);
      await engines.stream.remove(id);
      expect(texts(await followed)).toEqual(['here']);
      await expect(read(source, id)).rejects.toMatchObject({ kind: 'not_found' });
    });
  });

  it('is followed over all the files that it fills', async () => {
    const lines = 600_000;
    const id = await start(flood(lines, 100));
    const before = readdirSync('/proc/self/fd').length;
    let at = 0;
    let wrong = -1;
    for await (const batch of engines.file.logs(id, { follow: true }))
      for (const { text } of batch) {
        if (Number.parseInt(text, 10) !== at && wrong < 0) wrong = at;
        at += 1;
      }
    expect([at, wrong]).toEqual([lines, -1]);
    expect(readdirSync('/proc/self/fd').length).toBeLessThan(before + 4);
  });

  it('goes on from the file where the stream was cut off, and the other way', async () => {
    const id = await start('for (let line = 0; line < 100; line += 1) console.log(line)');
    await ended(id);
    const [file, stream] = [await read('file', id), await read('stream', id)];
    const rest = async (source: (typeof SOURCES)[number], after: LogLine & PlacedLine) =>
      texts(await read(source, id, { after }));
    expect(texts(file)).toEqual(texts(stream));
    for (const at of [0, 50, 98])
      expect(await rest('file', stream[at] as PlacedLine)).toEqual(texts(file).slice(at + 1));
    // Podman's stream has whole seconds: lines may come twice, and none is left out.
    for (const at of [0, 50, 98])
      expect(await rest('stream', file[at] as PlacedLine)).toEqual(
        expect.arrayContaining(texts(file).slice(at + 1)),
      );
  });

  it('comes from the stream when the engine keeps it elsewhere', async () => {
    const type = kind === 'docker' ? 'local' : 'k8s-file';
    const id = await start('console.log("kept")', {
      HostConfig: { LogConfig: { Type: type, Config: {} } },
    });
    await ended(id);
    expect(texts(await read('file', id, { follow: true }))).toEqual(['kept']);
  });

  it('is read from the file indeed, which has nanoseconds', async () => {
    const id = await start('console.log("hello")');
    await ended(id);
    const { LogPath } = await engineJson<{ LogPath: string }>(socket, {
      path: `/containers/${id}/json`,
    });
    const open: string[] = [];
    for await (const [line] of engines.file.logs(id, { follow: true })) {
      expect(line?.time).toMatch(/T\d\d:\d\d:\d\d\.\d{9}Z$/);
      open.push(...openFiles());
    }
    expect(open).toContain(LogPath);
    expect(openFiles()).not.toContain(LogPath);
  });
});

/** What this process has open. */
function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((number) => {
    try {
      return [readlinkSync(`/proc/self/fd/${number}`)];
    } catch {
      return []; // The one of this list.
    }
  });
}

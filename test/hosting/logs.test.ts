import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { LogLine } from '../../runtime/hosting/engine/engine.ts';
import {
  createFrameReader,
  createLineAssembler,
} from '../../runtime/hosting/engine/dockerode/frames.ts';
import { compareTimes, linesAfter } from '../../runtime/hosting/engine/logs/position.ts';
import { describeEachEngine } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { startServer, token, type TestServer } from './server.ts';

const frame = (stream: 1 | 2, text: string) => {
  const payload = Buffer.from(text);
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(payload.length, 4);
  return Buffer.concat([header, payload]);
};

function linesOf(data: Buffer, cuts: readonly number[]): LogLine[] {
  const read = createFrameReader();
  const assembler = createLineAssembler();
  const found: LogLine[] = [];
  let at = 0;
  for (const size of [...cuts, data.length]) {
    for (const one of read(data.subarray(at, at + size))) assembler.push(one, found);
    at += size;
  }
  return [...found, ...assembler.end()];
}

describe('log frames', () => {
  const T = '2026-01-02T03:04:05.678901234Z';

  it('become lines, with their time and stream', () => {
    const data = Buffer.concat([
      frame(1, `${T} one\n`),
      frame(2, `${T} two\r\n`),
      frame(1, `${T} \n`),
      frame(1, `${T} no end`),
    ]);
    expect(linesOf(data, [])).toEqual([
      { stream: 'stdout', time: T, text: 'one' },
      { stream: 'stderr', time: T, text: 'two' },
      { stream: 'stdout', time: T, text: '' },
      { stream: 'stdout', time: T, text: 'no end' },
    ]);
  });

  it('that hold pieces of one line are joined, with the time of the last', () => {
    const last = T.replace(':05.', ':06.');
    const data = Buffer.concat([
      frame(1, `${T} ${'a'.repeat(16_384)}`),
      frame(2, `${T} between\n`),
      frame(1, `${last} ${'b'.repeat(10)}\n`),
    ]);
    const lines = linesOf(data, []);
    expect(lines.map(({ stream, time, text }) => [stream, time, text.length])).toEqual([
      ['stderr', T, 7],
      ['stdout', last, 16_394],
    ]);
  });

  it('keep a time that the app itself prints', () => {
    expect(linesOf(frame(1, `${T} ${T} app\n`), [])).toEqual([
      { stream: 'stdout', time: T, text: `${T} app` },
    ]);
  });

  it('may be cut anywhere', () => {
    const data = Buffer.concat([
      frame(1, `${T} grüße\n`),
      frame(2, `${T} two\n`),
      frame(1, `${T} three\n`),
    ]);
    const whole = linesOf(data, []);
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 30 }),
        (cuts) => void expect(linesOf(data, cuts)).toEqual(whole),
      ),
    );
  });
});

describe('a position in a log', () => {
  // However many come at a time.
  async function* from(lines: readonly LogLine[]) {
    for (let at = 0; at < lines.length; at += 2) yield lines.slice(at, at + 2);
  }
  const line = (second: number, text: string): LogLine => ({
    stream: 'stdout',
    time: `2026-01-01T00:00:0${second}Z`,
    text,
  });

  it('tells lines of one second apart, so that none comes twice or is lost', async () => {
    const all = [
      line(1, 'a'),
      line(1, 'a'),
      line(2, 'b'),
      line(2, 'b'),
      line(2, 'b'),
      line(3, 'c'),
    ];
    for (let cut = 1; cut < all.length; cut += 1) {
      const read = (await Array.fromAsync(linesAfter(from(all), undefined))).flat();
      const position = read[cut - 1]!;
      const again = all.filter(({ time }) => time >= position.time);
      const rest = (await Array.fromAsync(linesAfter(from(again), position))).flat();
      expect(
        rest.map(({ text }) => text),
        `after ${cut}`,
      ).toEqual(all.slice(cut).map(({ text }) => text));
    }
  });

  it('is in order whatever the digits and the zone', () => {
    expect(
      compareTimes('2026-01-01T00:00:01.5Z', '2026-01-01T00:00:01.123456789Z'),
    ).toBeGreaterThan(0);
    expect(compareTimes('2026-01-01T00:00:01Z', '2026-01-01T00:00:01.000000001Z')).toBeLessThan(0);
    expect(compareTimes('2026-01-01T01:00:00+01:00', '2026-01-01T00:00:01Z')).toBeLessThan(0);
  });
});

const FLOOD_LINES = 600_000;
/** Prints some 60 MB when it is asked to, which are more than 100 MB in the engine's files. */
const FLOOD = `
const { createServer } = require('http'), { writeSync } = require('fs');
const write = (data) => { for (let at = 0; at < data.length; ) { try { at += writeSync(1, data, at); } catch (error) { if (error.code !== 'EAGAIN') throw error; } } };
createServer((asked, answer) => {
  if (asked.url !== '/flood') return answer.end();
  for (let line = 0; line < ${FLOOD_LINES}; line += 500) write(Buffer.from(Array.from({ length: 500 }, (_, index) => String(line + index).padEnd(100, '.') + '\\n').join('')));
  answer.end('${FLOOD_LINES} lines');
}).listen(process.env.PORT, () => console.log('ready'));
`;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** What is kept: what waits to be collected may be more than that. */
function memory(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describeEachEngine('followed logs', ({ socket }) => {
  let server: TestServer;
  let web: string;
  beforeAll(async () => {
    web = await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket });
  });
  afterEach(() => server?.clear());
  afterAll(() => server?.end());

  /** Reads a stream until it ends, or `enough` says so. */
  function stream(
    path: string,
    headers: Record<string, string>,
    enough: (text: string) => boolean = () => false,
  ): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent = request(
        server.url + path,
        { headers: { authorization: `Bearer ${token}`, ...headers }, agent: false },
        (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (chunk) => {
            text += chunk;
            if (enough(text)) {
              resolve(text);
              sent.destroy();
            }
          });
          answer
            .on('end', () => resolve(text))
            .on('error', (error) => (enough(text) ? resolve(text) : reject(error)));
        },
      );
      sent.on('error', reject).end();
    });
  }

  /** The same, and when a word of it has come. */
  function begin(
    path: string,
    word: string,
    enough: (text: string) => boolean = () => false,
  ): [Promise<string>, Promise<unknown>] {
    let followed: Promise<string> | undefined;
    const begun = new Promise<void>((resolve) => {
      followed = stream(path, {}, (text) => {
        if (text.includes(word)) resolve();
        return enough(text);
      });
    });
    return [followed as Promise<string>, Promise.race([begun, followed])];
  }

  it('lose no line when the app is stopped in the middle of a flood', async () => {
    const mark = randomBytes(4).toString('hex');
    // It prints for a while once it is told to, and a last line when it is stopped.
    const script = `httpd -p $PORT -h /www; trap 'i=0; while [ $i -lt 5000 ]; do echo end ${mark} $i; i=$((i+1)); done; exit 0' TERM; echo ready; while true; do sleep 0.05; done`;
    await server.api('POST', '/api/apps', {
      name: 'flood',
      image: web,
      command: ['sh', '-c', script],
    });
    const [followed, begun] = begin('/api/apps/flood/logs?follow=true&tail=10', 'ready');
    await begun;
    await server.api('POST', '/api/apps/flood/stop');
    const lines = (await followed).trimEnd().split('\n');
    expect(lines[0]).toBe('ready');
    expect(lines.slice(1)).toEqual(
      Array.from({ length: 5000 }, (_, index) => `end ${mark} ${index}`),
    );
    await server.api('DELETE', '/api/apps/flood');
  });

  it("go on where they were cut off, by the last event's id", async () => {
    await server.api('POST', '/api/apps', {
      name: 'resume',
      image: web,
      command: [
        'sh',
        '-c',
        'httpd -p $PORT -h /www; i=0; while true; do echo n $i; i=$((i+1)); usleep 10000; done',
      ],
    });
    const data = (text: string) =>
      [...text.matchAll(/^data: n (\d+)$/gm)].map(([, number]) => Number(number));
    const first = await stream(
      '/api/apps/resume/logs?tail=5',
      { accept: 'text/event-stream' },
      (text) => data(text).length > 40,
    );
    const events = [...first.matchAll(/^id: (.+)\ndata: n (\d+)\n\n/gm)];
    const last = events.at(-1)!;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const second = await stream(
      '/api/apps/resume/logs',
      { accept: 'text/event-stream', 'last-event-id': last[1] as string },
      (text) => data(text).length > 150,
    );
    const numbers = [...events.map(([, , number]) => Number(number)), ...data(second)];
    expect(numbers).toEqual(
      Array.from({ length: numbers.length }, (_, index) => (numbers[0] as number) + index),
    );
    await server.api('DELETE', '/api/apps/resume');
  });

  it('go on over a deployment', async () => {
    await server.api('POST', '/api/apps', { name: 'over', image: web });
    const [followed, begun] = begin(
      '/api/apps/over/logs?follow=true',
      'version 1 listens',
      (text) => text.includes('version 2 listens'),
    );
    await begun;
    await server.api('POST', '/api/apps/over/deploy', {
      image: await importImage(socket, 'twofold-test/web:2'),
    });
    expect(await followed).toMatch(/version 1 listens[^]*version 2 starts/);
    await server.api('DELETE', '/api/apps/over');
  });

  it('wait for a reader who reads nothing, without filling the memory, and then he has every line', async () => {
    await server.api('POST', '/api/apps', {
      name: 'slow',
      image: await importImage(socket, 'twofold-test/node:1'),
      command: ['node', '-e', FLOOD],
    });
    const sent = request(`${server.url}/api/apps/slow/logs?follow=true`, {
      headers: { authorization: `Bearer ${token}` },
      agent: false,
    }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const before = memory();
    expect((await server.visit('slow.apps.test', '/flood')).text).toBe(`${FLOOD_LINES} lines`);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(memory() - before).toBeLessThan(20 * 1024 * 1024);
    let [at, wrong, rest] = [0, 0, ''];
    for await (const chunk of answer.setEncoding('latin1')) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() as string;
      for (const line of lines) {
        if (line === 'ready') continue;
        if (Number.parseInt(line, 10) !== at) wrong += 1;
        at += 1;
      }
      if (at === FLOOD_LINES) break;
    }
    expect([at, wrong]).toEqual([FLOOD_LINES, 0]);
    await server.api('DELETE', '/api/apps/slow');
  });

  it('of several replicas come together', async () => {
    await server.api('POST', '/api/apps', { name: 'choir', image: web, replicas: 3 });
    const { body } = await server.api('GET', '/api/apps/choir/logs');
    expect(body.match(/version 1 starts/g)).toHaveLength(3);
    await server.api('DELETE', '/api/apps/choir');
  });
});

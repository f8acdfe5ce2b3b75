import { request, type RequestOptions } from 'node:http';
import { engineJson } from '../engines/call-engine.ts';
import { token } from '../hosting/server.ts';
import type { Hosting } from './hosting-engine.ts';
import { cpuOf } from './hosting-process.ts';
import { load, median, say, verdict } from './hosting-report.ts';

const LINES = 200_000;
const ROUNDS = 3;

/** Prints its lines as fast as it can when it is asked to, and ends with the last one. */
const FLOOD = `
const { createServer } = require('http'), { writeSync } = require('fs');
const write = (data) => { for (let at = 0; at < data.length; ) { try { at += writeSync(1, data, at); } catch (error) { if (error.code !== 'EAGAIN') throw error; } } };
createServer((asked, answer) => {
  if (asked.url !== '/flood') return answer.end();
  answer.end('now', () => {
    for (let line = 0; line < ${LINES}; ) {
      let text = '';
      for (const end = Math.min(line + 500, ${LINES}); line < end; line += 1) text += 'line ' + String(line).padStart(7, '0') + ' of an output as apps print it all day\\n';
      write(Buffer.from(text));
    }
    process.exit(0);
  });
}).listen(process.env.PORT);
`;

/** How fast lines come that an app prints all at once before it ends, and whether all of them do; beside what the engine's own stream gives and what the engine takes. */
export async function benchLogs(
  hosting: Hosting,
  { kind, socket, image }: { kind: string; socket: string; image: string },
): Promise<void> {
  const rounds: { rate: number; lost: number; cpu: number; raw: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const name = `flood-${round}`;
    const { status, text } = await hosting.call('POST', '/api/apps', {
      name,
      image,
      command: ['node', '-e', FLOOD],
    });
    if (status !== 201) throw new Error(text);
    const before = cpuOf(hosting.pid);
    const ours = follow(`${hosting.url}/api/apps/${name}/logs?follow=true&tail=10`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { status: asked } = await visit(hosting.ingress, `${name}.apps.test`);
    if (asked !== 200) throw new Error(`the app answered ${asked}`);
    const { lines, first, last, order } = await ours;
    const cpu = cpuOf(hosting.pid) - before;
    rounds.push({
      rate: (lines / (last - first)) * 1000,
      lost: LINES - lines + order,
      cpu: (cpu / lines) * 1e6,
      raw: await readRaw(socket, name),
    });
    await hosting.call('DELETE', `/api/apps/${name}`);
  }
  const rate = median(rounds.map((one) => one.rate));
  const lost = rounds.reduce((sum, one) => sum + one.lost, 0);
  verdict(
    `followed logs, ${LINES} lines before the app ends: lines/s`,
    thousands(rate),
    '≥ 150 k',
    rate >= 150_000,
  );
  verdict('lines lost at the end', `${lost} of ${LINES * ROUNDS}`, '0', lost === 0);
  say(
    `| CPU of the server for a line | ${median(rounds.map((one) => one.cpu)).toFixed(1)} µs | | ${load()} |`,
  );
  say(
    `| the engine's own stream of the same lines, read by itself: lines/s | ${thousands(median(rounds.map((one) => one.raw)))} | | ${kind} |`,
  );
  say(
    `| lines/s that the engine takes when nobody reads: more cannot be followed | ${thousands(await ingest(hosting, image))} | | |`,
  );
}

/** How fast the engine writes what an app prints, by the times that it gives the lines. */
async function ingest(hosting: Hosting, image: string): Promise<number> {
  const name = 'flood-alone';
  await hosting.call('POST', '/api/apps', { name, image, command: ['node', '-e', FLOOD] });
  await visit(hosting.ingress, `${name}.apps.test`);
  await new Promise((resolve) => setTimeout(resolve, 5000));
  const { text } = await hosting.call('GET', `/api/apps/${name}/logs?tail=${LAST}&timestamps=true`);
  await hosting.call('DELETE', `/api/apps/${name}`);
  const times = text
    .split('\n')
    .filter((line) => line.includes(' line '))
    .map(nanoseconds);
  return ((times.length - 1) / ((times.at(-1) ?? 0) - (times[0] ?? 0))) * 1e9;
}

/** As many as can be asked for at once. */
const LAST = 100_000;

/** Within one hour: `2026-01-01T00:05:00.123456789Z …`. */
function nanoseconds(line: string): number {
  return (Number(line.slice(14, 16)) * 60 + Number(line.slice(17, 29))) * 1e9;
}

const thousands = (value: number) => `${Math.round(value / 1000)} k`;

/** Reads until all lines have come, or none does for a while. `order` counts those that are not the one after their predecessor. */
function follow(
  url: string,
  options: RequestOptions,
): Promise<{ lines: number; first: number; last: number; order: number }> {
  return new Promise((resolve, reject) => {
    const seen = { lines: 0, first: 0, last: 0, order: 0 };
    let rest = '';
    const sent = request(url, { ...options, agent: false }, (answer) => {
      const done = () => (clearTimeout(idle), sent.destroy(), resolve(seen));
      let idle = setTimeout(done, 30_000);
      answer
        .setEncoding('latin1')
        .on('error', () => {})
        .on('end', done)
        .on('data', (chunk: string) => {
          const lines = (rest + chunk).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) {
            if (!line.startsWith('line ')) continue;
            if (Number(line.slice(5, 12)) !== seen.lines + seen.order) seen.order += 1;
            seen.first ||= performance.now();
            seen.lines += 1;
          }
          seen.last = performance.now();
          clearTimeout(idle);
          if (seen.lines >= LINES) return done();
          idle = setTimeout(done, 15_000);
        });
    });
    sent.on('error', reject).end();
  });
}

/** The container's output once more, from the engine as it is: lines a second. */
async function readRaw(socketPath: string, name: string): Promise<number> {
  const filters = encodeURIComponent(JSON.stringify({ label: [`twofold.name=${name}`] }));
  const [container] = await engineJson<{ Id: string }[]>(socketPath, {
    path: `/containers/json?all=1&filters=${filters}`,
  });
  const began = performance.now();
  const lines = await new Promise<number>((resolve, reject) => {
    const sent = request(
      { socketPath, path: `/containers/${container?.Id}/logs?stdout=1&stderr=1&timestamps=1` },
      (answer) => {
        let count = 0;
        answer.on('data', (chunk: Buffer) => {
          for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) count += 1;
        });
        answer.on('end', () => resolve(count)).on('error', reject);
      },
    );
    sent.on('error', reject).end();
  });
  return (lines / (performance.now() - began)) * 1000;
}

function visit(port: number, host: string): Promise<{ status: number }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path: '/flood', agent: false, headers: { host } },
      (answer) => answer.resume().on('end', () => resolve({ status: answer.statusCode ?? 0 })),
    );
    sent.on('error', reject).end();
  });
}

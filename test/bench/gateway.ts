/**
 * What the gateway adds to an engine: the time to the first piece of a streamed answer and the pieces a second, beside the
 * same OpenAI server asked directly; without a budget, and with a key whose budget is reserved and settled each time.
 * The engine is a server of the tests, so the figures are the gateway's alone. They take turns, and medians are shown.
 * Part of `npm run bench:models`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEngine } from '../models/test-engine.ts';

const ROUNDS = Number(process.env['ROUNDS'] ?? 100);
const PIECES = 60;
/** Not counted, with short answers: V8 compiles what is used, as it has in a server that runs for days. */
const WARM = 500;
const MODEL = 'bench/model';

const engine = await startEngine([MODEL]);
engine.behaviour.delay = 1;
const folder = mkdtempSync(join(tmpdir(), 'tf-bench-'));
const program = fork(
  new URL('../models/program.ts', import.meta.url),
  [JSON.stringify({ folder, engine: engine.url })],
  { execArgv: [] },
);
const [{ url, token }] = (await once(program, 'message')) as [{ url: string; token: string }];
const made = await fetch(`${url}/api/mlx/keys`, {
  method: 'POST',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ name: 'bench', budget: { tokens_per_day: 1e12 } }),
});
const { key } = (await made.json()) as { key: string };
const ways = [
  { title: 'the engine alone', address: engine.url, secret: 'none' },
  { title: 'through the gateway', address: `${url}/api/mlx/v1`, secret: token },
  { title: 'with a key and its budget', address: `${url}/api/mlx/v1`, secret: key },
];
const samples = ways.map((): { first: number; speed: number }[] => []);
answerWith(2);
for (let round = 0; round < WARM; round += 1) for (const way of ways) await ask(way);
answerWith(PIECES);
for (let round = 0; round < ROUNDS; round += 1)
  for (const [index, way] of ways.entries()) samples[index]!.push(await ask(way));
process.stdout.write(
  '| way | first piece p50 | more | pieces/s | kept |\n|---|---:|---:|---:|---:|\n',
);
const middles = samples.map((all) => ({
  first: median(all.map(({ first }) => first)),
  speed: median(all.map(({ speed }) => speed)),
}));
for (const [index, { title }] of ways.entries()) {
  const { first, speed } = middles[index]!;
  const { first: bare, speed: full } = middles[0]!;
  process.stdout.write(
    `| ${title} | ${first.toFixed(2)} ms | ${(first - bare).toFixed(2)} ms | ${speed.toFixed(0)} | ${((speed / full) * 100).toFixed(1)} % |\n`,
  );
}
program.disconnect();
program.kill('SIGTERM');
await engine.close();
rmSync(folder, { recursive: true, force: true });

function answerWith(pieces: number): void {
  engine.behaviour.pieces = Array.from({ length: pieces }, () => 'word ');
}

function ask({
  address,
  secret,
}: (typeof ways)[number]): Promise<{ first: number; speed: number }> {
  const body = JSON.stringify({
    ...{ model: MODEL, stream: true, max_tokens: 500 },
    messages: [{ role: 'user', content: 'Tell me what a server does. '.repeat(20) }],
  });
  const begun = performance.now();
  let first = 0;
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const sent = request(`${address}/chat/completions`, { method: 'POST', headers }, (answer) => {
      answer.on('data', () => void (first ||= performance.now()));
      answer.once('end', () => {
        const ended = performance.now();
        resolve({ first: first - begun, speed: (PIECES / (ended - begun)) * 1000 });
      });
    });
    sent.once('error', reject).end(body);
  });
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] as number;
}

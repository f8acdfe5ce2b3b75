/**
 * How much of the library's speed is left behind our API: tokens a second and the time to the first one, through the
 * server with its auth, against node-llama-cpp called directly, in turns on one machine. `npm run bench:models`.
 * Nothing is asserted: the numbers are for people.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startHub } from '../models/hub.ts';
import { tinyModel } from '../models/tiny-gguf.ts';

interface Sample {
  /** Milliseconds to the first piece of text. */
  readonly first: number;
  /** Milliseconds from there to the end. */
  readonly rest: number;
  readonly tokens: number;
}

interface Served {
  readonly url: string;
  readonly token: string;
}

const ROUNDS = Number(process.env['ROUNDS'] ?? 15);
const TEXT = 'Tell me how a program that answers many people at once can be kept small, and what of it should be measured. '.repeat(3);
const SIZES = [
  { title: '0.5 MB (nothing but overhead)', id: 'bench/small-GGUF', model: () => tinyModel(), maxTokens: 400 },
  { title: '120 MB (the smallest that people use)', id: 'bench/large-GGUF', model: () => tinyModel({ embedding: 768, feedForward: 2048, blocks: 4 }), maxTokens: 60 },
];

const files = Object.fromEntries(SIZES.map(({ id, model }) => [id, { files: { 'model.gguf': model() } }]));
const hub = await startHub(files);
const folder = mkdtempSync(join(tmpdir(), 'tf-bench-'));
const program = fork(new URL('../models/program.ts', import.meta.url), [JSON.stringify({ hub: hub.url, folder, list: SIZES.map(({ id }) => id) })], { execArgv: [] });
const [served] = (await once(program, 'message')) as [Served];
process.stdout.write('| model | tokens/s direct | tokens/s API | kept | first token direct | first token API | kept |\n|---|---:|---:|---:|---:|---:|---:|\n');
for (const size of SIZES) process.stdout.write(`${await compare(size)}\n`);
program.disconnect();
program.kill('SIGTERM');
await hub.close();
rmSync(folder, { recursive: true, force: true });

async function compare({ title, id, maxTokens }: (typeof SIZES)[number]): Promise<string> {
  await call('pull', { model: id });
  await untilHere(id);
  await call('start', { model: id });
  const path = join(folder, 'data/models', id, 'model.gguf');
  const direct = fork(new URL('./models/direct.ts', import.meta.url), [JSON.stringify({ path, threads: Math.max(1, availableParallelism() - 1), context: 8192 })], { execArgv: [] });
  await once(direct, 'message');
  const samples: { direct: Sample[]; api: Sample[] } = { direct: [], api: [] };
  for (let round = -3; round < ROUNDS; round += 1) {
    const order = round % 2 === 0 ? (['direct', 'api'] as const) : (['api', 'direct'] as const);
    for (const name of order) {
      const sample = name === 'direct' ? await askDirect(direct, { seed: 100 + round, maxTokens }) : await askApi(id, { seed: 100 + round, maxTokens });
      if (round >= 0) samples[name].push(sample);
    }
  }
  direct.disconnect();
  const speed = (list: Sample[]) => median(list.map(({ tokens, rest }) => (tokens / rest) * 1000));
  const first = (list: Sample[]) => median(list.map((sample) => sample.first));
  // Pairs of one round have the same seed and the same minute: their ratio is steadier than that of two medians.
  const pairs = samples.direct.map((sample, index) => ({ direct: sample, api: samples.api[index] as Sample }));
  const kept = (ratio: (pair: (typeof pairs)[number]) => number) => `${(median(pairs.map(ratio)) * 100).toFixed(1)} %`;
  const keptSpeed = kept(({ direct: one, api }) => api.tokens / api.rest / (one.tokens / one.rest));
  const keptFirst = kept(({ direct: one, api }) => one.first / api.first);
  return `| ${title} | ${speed(samples.direct).toFixed(0)} | ${speed(samples.api).toFixed(0)} | ${keptSpeed} | ${first(samples.direct).toFixed(1)} ms | ${first(samples.api).toFixed(1)} ms | ${keptFirst} |`;
}

async function askDirect(direct: ChildProcess, { seed, maxTokens }: { seed: number; maxTokens: number }): Promise<Sample> {
  direct.send({ text: TEXT, seed, maxTokens });
  return ((await once(direct, 'message')) as [Sample])[0];
}

function askApi(model: string, { seed, maxTokens }: { seed: number; maxTokens: number }): Promise<Sample> {
  const begun = performance.now();
  let first = 0;
  let text = '';
  return new Promise((resolve, reject) => {
    const sent = request(`${served.url}/api/mlx/v1/chat/completions`, { method: 'POST', headers: { authorization: `Bearer ${served.token}`, 'content-type': 'application/json' } }, (answer) => {
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        first ||= performance.now();
        text += chunk;
      });
      answer.once('end', () => resolve({ first: first - begun, rest: performance.now() - first, tokens: Number(/"completion_tokens":(\d+)/.exec(text)?.[1]) }));
    });
    sent.once('error', reject).end(JSON.stringify({ model, messages: [{ role: 'user', content: TEXT }], seed, max_tokens: maxTokens, stream: true, stream_options: { include_usage: true } }));
  });
}

async function call(path: string, body?: object): Promise<any> {
  const answer = await fetch(`${served.url}/api/mlx/${path}`, { method: body ? 'POST' : 'GET', headers: { authorization: `Bearer ${served.token}`, 'content-type': 'application/json' }, ...(body && { body: JSON.stringify(body) }) });
  if (answer.status >= 300) throw new TypeError(await answer.text());
  return answer.json();
}

async function untilHere(id: string): Promise<void> {
  while ((await call(`models/${id}`)).status !== 'downloaded') await sleep(50);
}

function median(list: readonly number[]): number {
  return [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
}

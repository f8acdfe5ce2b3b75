/**
 * How much of the library's speed is left behind our API: tokens a second and the time to the first one, through the
 * server with its auth, against node-llama-cpp called directly, in turns on one machine. `npm run bench:models`.
 * Nothing is asserted: the numbers are for people. On a machine that does other work too, only the CPU time says
 * something (Linux only): it is that of the process with the model, which is what limits tokens a second.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
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
  /** Milliseconds of CPU of the process that runs the model. */
  readonly cpu: number;
}

interface Served {
  readonly url: string;
  readonly token: string;
}

const ROUNDS = Number(process.env['ROUNDS'] ?? 15);
const TEXT = 'Tell me how a program that answers many people at once can be kept small, and what of it should be measured. '.repeat(3);
const SIZES = [
  { title: '0.5 MB (nothing but overhead)', id: 'bench/small-GGUF', model: () => tinyModel(), maxTokens: 400 },
  { title: '80 MB (the smallest that people use)', id: 'bench/large-GGUF', model: () => tinyModel({ embedding: 512, feedForward: 1536, blocks: 6 }), maxTokens: 40 },
];

const files = Object.fromEntries(SIZES.map(({ id, model }) => [id, { files: { 'model.gguf': model() } }]));
const hub = await startHub(files);
const folder = mkdtempSync(join(tmpdir(), 'tf-bench-'));
const program = fork(new URL('../models/program.ts', import.meta.url), [JSON.stringify({ hub: hub.url, folder, list: SIZES.map(({ id }) => id) })], { execArgv: [] });
const [served] = (await once(program, 'message')) as [Served];
process.stdout.write('| model | tokens/s direct | tokens/s API | kept | first token direct | first token API | kept | CPU a token direct | CPU a token API | kept |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n');
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
  for (let round = -2; round < ROUNDS; round += 1) {
    const order = round % 2 === 0 ? (['direct', 'api'] as const) : (['api', 'direct'] as const);
    for (const name of order) {
      const sample = name === 'direct' ? await askDirect(direct, { seed: 100 + round, maxTokens }) : await askApi(id, { seed: 100 + round, maxTokens });
      if (round >= 0) samples[name].push(sample);
    }
  }
  direct.disconnect();
  // Whatever else runs here makes single rounds slow: the best ones are those of the machine.
  const speed = (list: Sample[]) => Math.max(...list.map(({ tokens, rest }) => (tokens / rest) * 1000));
  const first = (list: Sample[]) => Math.min(...list.map((sample) => sample.first));
  const [was, is] = [samples.direct, samples.api];
  const cost = (list: Sample[]) => list.reduce((sum, { cpu }) => sum + cpu, 0) / list.reduce((sum, { tokens }) => sum + tokens, 0);
  const percent = (ratio: number) => `${(ratio * 100).toFixed(1)} %`;
  return `| ${title} | ${speed(was).toFixed(0)} | ${speed(is).toFixed(0)} | ${percent(speed(is) / speed(was))} | ${first(was).toFixed(1)} ms | ${first(is).toFixed(1)} ms | ${percent(first(was) / first(is))} | ${cost(was).toFixed(3)} ms | ${cost(is).toFixed(3)} ms | ${percent(cost(was) / cost(is))} |`;
}

async function askDirect(direct: ChildProcess, { seed, maxTokens }: { seed: number; maxTokens: number }): Promise<Sample> {
  direct.send({ text: TEXT, seed, maxTokens });
  return ((await once(direct, 'message')) as [Sample])[0];
}

function askApi(model: string, { seed, maxTokens }: { seed: number; maxTokens: number }): Promise<Sample> {
  const child = childOf(program.pid as number);
  const before = cpuOf(child);
  const begun = performance.now();
  let first = 0;
  let text = '';
  return new Promise((resolve, reject) => {
    const sent = request(`${served.url}/api/mlx/v1/chat/completions`, { method: 'POST', headers: { authorization: `Bearer ${served.token}`, 'content-type': 'application/json' } }, (answer) => {
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        first ||= performance.now();
        text += chunk;
      });
      answer.once('end', () => resolve({ cpu: cpuOf(child) - before, first: first - begun, rest: performance.now() - first, tokens: Number(/"completion_tokens":(\d+)/.exec(text)?.[1]) }));
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

function statOf(pid: number | string): string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
}

/** The process that runs the model. */
function childOf(parent: number): number {
  const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).find((pid) => {
    try {
      return statOf(pid)[1] === String(parent) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('llamacpp/program');
    } catch {
      return false;
    }
  });
  return Number(found);
}

/** Milliseconds of CPU so far; the system counts in hundredths of a second. */
function cpuOf(pid: number): number {
  return (Number(statOf(pid)[11]) + Number(statOf(pid)[12])) * 10;
}

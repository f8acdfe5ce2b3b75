/**
 * How much of the library's speed is left behind our API: tokens a second and the time to the first one, through the
 * server with its auth, against node-llama-cpp called directly in the caller's own process. `npm run bench:models`.
 * Both have the same model, settings, seeds and threads, and must say the same text. They take turns; "kept" is the
 * median over the pairs of neighbours, which other work on the machine disturbs least, and the figures beside it are
 * medians too. CPU (Linux only) is that of the process with the model, which is what limits tokens a second; what the
 * server's own process adds stands after it. Nothing is asserted: the numbers are for people.
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
  readonly text: string;
  /** Milliseconds of CPU of the process that runs the model. */
  readonly cpu: number;
}

interface Served {
  readonly url: string;
  readonly token: string;
}

const ROUNDS = Number(process.env['ROUNDS'] ?? 21);
/** Not counted: code gets warm. */
const WARM = 3;
const TEXT =
  'Tell me how a program that answers many people at once can be kept small, and what of it should be measured. '.repeat(
    3,
  );
const SIZES = [
  {
    title: '0.5 MB (nothing but overhead)',
    id: 'bench/small-GGUF',
    model: () => tinyModel(),
    maxTokens: 400,
  },
  {
    title: '80 MB (the smallest that people use)',
    id: 'bench/large-GGUF',
    model: () => tinyModel({ embedding: 512, feedForward: 1536, blocks: 6 }),
    maxTokens: 40,
  },
];

const files = Object.fromEntries(
  SIZES.map(({ id, model }) => [id, { files: { 'model.gguf': model() } }]),
);
const hub = await startHub(files);
const folder = mkdtempSync(join(tmpdir(), 'tf-bench-'));
const program = fork(
  new URL('../models/program.ts', import.meta.url),
  [JSON.stringify({ hub: hub.url, folder, list: SIZES.map(({ id }) => id) })],
  { execArgv: [] },
);
const [served] = (await once(program, 'message')) as [Served];
process.stdout.write(
  '| model | tokens/s direct | API | kept | first token direct | API | kept | CPU a token direct | API | kept | of the server |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n',
);
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
  const direct = fork(
    new URL('./models/direct.ts', import.meta.url),
    [JSON.stringify({ path, threads: Math.max(1, availableParallelism() - 1), context: 8192 })],
    { execArgv: [] },
  );
  await once(direct, 'message');
  const child = childOf(program.pid as number);
  const pairs: Pair[] = [];
  let server = 0;
  for (let round = -WARM; round < ROUNDS; round += 1) {
    const order = { seed: 100 + round, maxTokens };
    const turns: Record<keyof Pair, () => Promise<Sample>> = {
      direct: () => askDirect(direct, order),
      api: () => askApi(id, child, order),
    };
    const before = cpuOf(program.pid as number);
    const first = round % 2 === 0 ? 'direct' : 'api';
    const one = await turns[first]();
    const two = await turns[first === 'api' ? 'direct' : 'api']();
    const pair = first === 'direct' ? { direct: one, api: two } : { direct: two, api: one };
    if (pair.direct.text !== pair.api.text || pair.direct.tokens !== pair.api.tokens)
      throw new TypeError(`the same seed gave two texts: ${JSON.stringify(pair)}`);
    if (round < 0) continue;
    server += cpuOf(program.pid as number) - before;
    pairs.push(pair);
  }
  direct.disconnect();
  return row(title, pairs, server);
}

interface Pair {
  readonly direct: Sample;
  readonly api: Sample;
}

/** One line of the table. */
function row(title: string, pairs: readonly Pair[], server: number): string {
  const columns = [
    { of: ({ tokens, rest }: Sample) => (tokens / rest) * 1000, unit: '', digits: 0, more: true },
    { of: ({ first }: Sample) => first, unit: ' ms', digits: 1, more: false },
    { of: ({ cpu, tokens }: Sample) => cpu / tokens, unit: ' ms', digits: 3, more: false },
  ].map(({ of, unit, digits, more }) => {
    const kept = median(
      pairs.map(({ direct, api }) => (more ? of(api) / of(direct) : of(direct) / of(api))),
    );
    const shown = (['direct', 'api'] as const).map(
      (name) => `${median(pairs.map((pair) => of(pair[name]))).toFixed(digits)}${unit}`,
    );
    return [...shown, `${(kept * 100).toFixed(1)} %`].join(' | ');
  });
  const tokens = pairs.reduce((sum, { api }) => sum + api.tokens, 0);
  return `| ${[title, ...columns, `${(server / tokens).toFixed(3)} ms`].join(' | ')} |`;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] as number;
}

async function askDirect(
  direct: ChildProcess,
  order: { seed: number; maxTokens: number },
): Promise<Sample> {
  const before = cpuOf(direct.pid as number);
  direct.send({ text: TEXT, ...order });
  const [sample] = (await once(direct, 'message')) as [Omit<Sample, 'cpu'>];
  return { ...sample, cpu: cpuOf(direct.pid as number) - before };
}

async function askApi(
  model: string,
  child: number,
  { seed, maxTokens }: { seed: number; maxTokens: number },
): Promise<Sample> {
  const before = cpuOf(child);
  const body = JSON.stringify({
    model,
    messages: [{ role: 'user', content: TEXT }],
    seed,
    max_tokens: maxTokens,
    stream: true,
    stream_options: { include_usage: true },
  });
  const { first, rest, events } = await timed(`${served.url}/api/mlx/v1/chat/completions`, body);
  const cpu = cpuOf(child) - before;
  const chunks = events
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)));
  const text = chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('');
  return { cpu, first, rest, text, tokens: chunks.at(-1).usage.completion_tokens };
}

function timed(
  url: string,
  body: string,
): Promise<{ first: number; rest: number; events: string }> {
  const begun = performance.now();
  let first = 0;
  let events = '';
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${served.token}`, 'content-type': 'application/json' },
      },
      (answer) => {
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          first ||= performance.now();
          events += chunk;
        });
        answer.once('end', () =>
          resolve({ first: first - begun, rest: performance.now() - first, events }),
        );
      },
    );
    sent.once('error', reject).end(body);
  });
}

async function call(path: string, body?: object): Promise<any> {
  const answer = await fetch(`${served.url}/api/mlx/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${served.token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (answer.status >= 300) throw new TypeError(await answer.text());
  return answer.json();
}

async function untilHere(id: string): Promise<void> {
  while ((await call(`models/${id}`)).status !== 'downloaded') await sleep(50);
}

function statOf(pid: number | string): string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
}

/** The process that runs the model that was started last; earlier ones go on. */
function childOf(parent: number): number {
  const found = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return (
          statOf(pid)[1] === String(parent) &&
          readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('llamacpp/program')
        );
      } catch {
        return false;
      }
    });
  return Math.max(...found.map(Number));
}

/** Milliseconds of CPU that all threads of a process have had; the scheduler counts them in nanoseconds. */
function cpuOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return (
    threads.reduce(
      (sum, thread) =>
        sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
      0,
    ) / 1e6
  );
}

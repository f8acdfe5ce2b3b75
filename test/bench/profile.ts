/** `node profile.ts <server> <workload> [sqlite|postgres] [count]`: self time by function, in µs for a request, without what is idle. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startContender } from './contender.ts';
import { postgresDatabase, sqliteDatabase } from './database.ts';
import { warmUp } from './measure.ts';
import { contenders } from './servers/index.ts';
import { workloads } from './workloads.ts';

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number } }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const [server = 'twofold', workloadName = 'byId', dialect = 'sqlite', count = '40'] = process.argv.slice(2);
const contender = contenders.find(({ name }) => name === server);
const workload = workloads.find(({ name }) => name === workloadName);
if (!contender || !workload) throw new TypeError('no such server or workload');
const database = await (dialect === 'sqlite' ? sqliteDatabase() : postgresDatabase(process.env['TEST_POSTGRES_URL'] ?? ''));
const folder = mkdtempSync(join(tmpdir(), 'twofold-profile-'));
try {
  const running = await startContender(contender, database.url);
  await warmUp(running, workload, 1e6);
  const requests = await warmUp(running, workload, 2e6);
  const file = join(folder, 'server.cpuprofile');
  const before = await running.figures();
  await running.profile(file, () => running.load(workload, requests));
  const after = await running.figures();
  print(JSON.parse(readFileSync(file, 'utf8')) as Profile, (after.cpu - before.cpu) / requests);
  await running.close();
} finally {
  rmSync(folder, { recursive: true });
  await database.drop();
}

function print(profile: Profile, cost: number): void {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const times = new Map<string, number>();
  let total = 0;
  profile.samples.forEach((id, index) => {
    const frame = frames.get(id);
    if (!frame || frame.functionName === '(idle)') return;
    const place = frame.url.split('/').slice(-3).join('/');
    const name = `${frame.functionName || '(anonymous)'}  ${place}${place ? `:${frame.lineNumber + 1}` : ''}`;
    const time = profile.timeDeltas[index] ?? 0;
    times.set(name, (times.get(name) ?? 0) + time);
    total += time;
  });
  const parts = new Map<string, number>();
  for (const [name, time] of times) parts.set(partOf(name), (parts.get(partOf(name)) ?? 0) + time);
  process.stdout.write(`${cost.toFixed(1)} µs of CPU a request while profiled\n`);
  for (const [name, time] of [...parts].sort((a, b) => b[1] - a[1])) process.stdout.write(`${((time / total) * cost).toFixed(2).padStart(8)} µs  ${name}\n`);
  for (const [name, time] of [...times].sort((a, b) => b[1] - a[1]).slice(0, Number(count))) {
    process.stdout.write(`${((time / total) * cost).toFixed(2).padStart(8)} µs ${((time / total) * 100).toFixed(1).padStart(5)} %  ${name}\n`);
  }
}

/** The part of the server that a function belongs to. */
function partOf(name: string): string {
  const place = name.split('  ')[1] ?? '';
  if (place === '') return name.trim();
  if (place.startsWith('node:')) return place.replace(/:\d+$/, '').replace(/^node:(internal\/\w+|\w+).*/, 'node:$1');
  return place.split('/').slice(0, 2).join('/');
}

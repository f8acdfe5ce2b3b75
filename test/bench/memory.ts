import { type Running, startContender } from './contender.ts';
import { sqliteDatabase } from './rows.ts';
import { drive, requestBytes } from './load.ts';
import type { Aside } from './report.ts';
import { contenders, type Contender } from './servers/index.ts';
import { workloads, type Workload } from './workloads.ts';

const MB = 1024 * 1024;
const workload = (name: string) =>
  workloads.find((candidate) => candidate.name === name) as Workload;

/** What is asked, out of twenty; two of them are documents that nobody has sent before. */
const MIX = { byId: 12, posts: 4, create: 2 } as const;
const NEW = 2;

/** What is reachable after each third of so many requests of every kind, when all caches have long been full. */
export async function memory(requests = 200_000): Promise<Aside[]> {
  const database = await sqliteDatabase();
  const server = await startContender(contenders[0] as Contender, database);
  try {
    await ask(server, 'w', 30_000);
    const seen: { heap: number; resident: number }[] = [];
    for (const third of ['a', 'b', 'c']) {
      await ask(server, third, requests / 3);
      const { heap, memory: resident } = await server.collect();
      seen.push({ heap: heap / MB, resident: resident / MB });
    }
    const heaps = seen.map(({ heap }) => heap);
    const residents = seen.map(({ resident }) => resident);
    const list = (figures: readonly number[]) =>
      figures.map((figure) => figure.toFixed(1)).join(', ');
    // What is compiled late may go again; nothing may be added.
    const [first = NaN, ...later] = heaps;
    const met = Math.max(...later) <= first * 1.05 + 1;
    return [
      {
        what: `Memory in thirds of ${requests.toLocaleString('en')} requests, one in ten a new document`,
        seen: `heap ${list(heaps)} MB, resident ${list(residents)} MB`,
        goal: 'flat',
        met,
      },
    ];
  } finally {
    await server.close();
    await database.drop();
  }
}

async function ask(server: Running, tag: string, requests: number): Promise<void> {
  const PARTS = 20;
  const share = (of: number) => Math.round((requests * of) / 20 / PARTS);
  for (let part = 0; part < PARTS; part += 1) {
    for (const [name, of] of Object.entries(MIX)) await server.load(workload(name), share(of));
    const fresh = Array.from({ length: share(NEW) }, (_, index) =>
      requestBytes({
        query: `{ a${tag}${part}x${index}: posts(limit: 1) { id b${index}: title author { name } } }`,
      }),
    );
    await drive(server.port, fresh, fresh.length);
  }
}

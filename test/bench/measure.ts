import { isDeepStrictEqual } from 'node:util';
import type { Running } from './contender.ts';
import { type Shape, SHAPES } from './shape.ts';
import type { Workload } from './workloads.ts';

/** Microseconds of CPU for a request in each round, by workload and server. */
export type Results = Map<string, Map<string, readonly number[]>>;

/** Both shapes are measured in the same rounds. */
export type Measured = Readonly<Record<Shape, Results>>;

export interface Measuring {
  readonly rounds: number;
  /** Microseconds of CPU that one measurement should take. */
  readonly slice: number;
  /** Microseconds of CPU for which each server is asked before. */
  readonly warming: number;
}

/** Long enough for V8 to have compiled what is used: a server runs for days. */
export const WARM_UP = 1_500_000;

/** Every server answers what the first one answers. @throws TypeError when one does not. */
export async function compareAnswers(
  servers: readonly Running[],
  workloads: readonly Workload[],
): Promise<void> {
  for (const workload of workloads) {
    for (const index of [0, 1, 2]) {
      const answers = await Promise.all(
        servers.map(async (server) => ({
          server,
          answer: await (await server.respond(workload, index)).json(),
        })),
      );
      const [first] = answers;
      const other = answers.find(({ answer }) => !isDeepStrictEqual(answer, first?.answer));
      if (other)
        throw new TypeError(
          `${workload.name}: ${other.server.name} (${other.server.shape}) answers ${JSON.stringify(other.answer).slice(0, 300)}, ${first?.server.name} answers ${JSON.stringify(first?.answer).slice(0, 300)}`,
        );
    }
  }
}

/** Rounds in which the servers take turns, so that what else the machine does falls on all of them. */
export async function measure(
  servers: readonly Running[],
  workloads: readonly Workload[],
  { rounds, slice, warming }: Measuring,
): Promise<Measured> {
  const measured: Measured = { asRun: new Map(), bare: new Map() };
  for (const workload of workloads) {
    const counts = new Map<Running, number>();
    for (const server of servers)
      counts.set(server, await warmUp(server, workload, slice, warming));
    const samples = new Map<Running, number[]>(servers.map((server) => [server, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (let turn = 0; turn < servers.length; turn += 1) {
        const server = servers[(turn + round) % servers.length] as Running;
        samples.get(server)?.push(await sample(server, workload, counts.get(server) ?? 1));
      }
    }
    for (const shape of SHAPES)
      measured[shape].set(
        workload.name,
        new Map(
          [...samples]
            .filter(([server]) => server.shape === shape)
            .map(([{ name }, costs]) => [name, costs]),
        ),
      );
  }
  return measured;
}

/** @returns how many requests take about a slice. */
export async function warmUp(
  server: Running,
  workload: Workload,
  slice: number,
  warming = WARM_UP,
): Promise<number> {
  let spent = 0;
  let cost = Infinity;
  for (let count = 50; spent < warming; count *= 2) {
    cost = await sample(server, workload, count);
    spent += cost * count;
  }
  return Math.max(32, Math.round(slice / cost));
}

async function sample(server: Running, workload: Workload, count: number): Promise<number> {
  const before = await server.figures();
  await server.load(workload, count);
  const after = await server.figures();
  return (after.cpu - before.cpu) / count;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(middle)] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/** How often `one` is `other`, round by round: what held up a whole round cancels out. */
export function ratio(one: readonly number[], other: readonly number[]): number {
  return median(one.map((value, round) => value / (other[round] ?? NaN)));
}

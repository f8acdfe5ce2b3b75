import type { Kernel } from '../module.ts';
import type { RequestContext } from '../context/request-context.ts';
import type { Sample } from '../metrics/family.ts';
import { renderFamilies } from '../metrics/render.ts';
import type { Definitions } from './definitions.ts';

const STATES = ['waiting', 'running', 'done', 'failed', 'cancelled'] as const;

interface Count {
  readonly name: string;
  readonly state: string;
  readonly count: number | string;
}

/**
 * How many jobs there are, of each name in each state; 0 too, so that a rule can compare it. Jobs of
 * names that the project no longer has are counted as well.
 */
export async function jobMetrics(
  { store, project }: Kernel,
  definitions: Definitions,
  context: RequestContext,
): Promise<string> {
  const rows = (await store.answerRows(
    {
      text: 'select name, state, count(*) as count from twofold_jobs group by name, state',
      long: true,
    },
    [],
    { asker: context, limits: project.api.limits, sent: false },
  )) as unknown as readonly Count[];
  const counts = new Map<string, Sample>(
    [...definitions.keys()].flatMap((name) =>
      STATES.map((state) => [`${name}\n${state}`, { of: [name, state], value: 0 }] as const),
    ),
  );
  for (const { name, state, count } of rows)
    counts.set(`${name}\n${state}`, { of: [name, state], value: Number(count) });
  const samples = [...counts.values()];
  return renderFamilies([
    { name: 'jobs', help: 'Jobs in the queue', type: 'gauge', labels: ['name', 'state'], samples },
  ]);
}

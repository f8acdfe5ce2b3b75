import assert from 'node:assert/strict';
import type { Entity, Project } from '@twofold/schema';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import { changesOf } from '../../runtime/core/data/changes/changes.ts';
import type { TestServer } from '../graphql/harness.ts';
import type { Row } from '../graphql/random-data.ts';
import { sightOf } from './sight.ts';
import type { World } from './worlds.ts';

/** Two servers that have to tell the caller the same. */
export interface Telling {
  readonly project: Project;
  readonly caller: Principal;
  readonly world: World;
  readonly one: TestServer;
  readonly two: TestServer;
}

/**
 * What subscribers are told when every row is touched, and when those that are gone are said to be touched too.
 *
 * @returns how many events there were.
 */
export async function compareEvents(telling: Telling): Promise<number> {
  const { entities } = telling.project;
  const counts = await Promise.all(entities.map((entity) => compareEventsOf(telling, entity)));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function compareEventsOf(
  { project, caller, world, one, two }: Telling,
  entity: Entity,
): Promise<number> {
  const sight = sightOf(project, caller);
  const rows = world.get(entity.name) ?? [];
  const seen = rows.filter((row) => sight.row(entity, row));
  const text = `subscription { change: ${entity.name.toLowerCase()}Changed { ${entity.fields
    .filter(({ source }) => source.kind === 'column')
    .map(({ name }) => name)
    .join(' ')} } }`;
  const asked = { text, caller, entity: entity.name, rows, seen };
  const [first, second] = await Promise.all([hear(one, asked), hear(two, asked)]);
  assert.deepEqual({ caller, text, heard: first }, { caller, text, heard: second });
  if ('refused' in first) return 0;
  const told = first.events.map(({ data }: any) => String(data?.change?.id));
  const expected = [...seen, ...seen.slice(-1)].map(({ id }) => String(id));
  assert.deepEqual({ caller, text, told }, { caller, text, told: expected });
  return told.length;
}

interface Asked {
  readonly text: string;
  readonly caller: Principal;
  readonly entity: string;
  readonly rows: readonly Row[];
  /** Those that the caller may see. */
  readonly seen: readonly Row[];
}

type Heard = { readonly refused: unknown } | { readonly events: readonly unknown[] };

/** Nobody who sees no row at all is told when all changes have been looked at. */
const SILENCE = 30;
const PATIENCE = 10_000;

/**
 * The events of a subscription while each row that there was is said to have changed; of who may not subscribe, the
 * refusal. The last row that the caller sees changes once more at the end: events keep their order, so that none comes
 * after this one.
 */
async function hear(
  { send, store }: TestServer,
  { text, caller, entity, rows, seen }: Asked,
): Promise<Heard> {
  let told = () => '';
  const events = () =>
    [...told().matchAll(/event: next\ndata: (.*)\n\n/g)].map(([, data]) => data!);
  const [begun, whole] = [signal(), signal()];
  const answering = send('/graphql', askFor(text, caller), () => {
    begun.give();
    if (events().length > seen.length) whole.give();
  });
  told = answering.text;
  await begun.given;
  try {
    if (!answering.response.getHeader('content-type')?.toString().includes('event-stream'))
      return await answering.ended.then(() => ({ refused: JSON.parse(told()) }));
    changesOf(store).publish(
      [...rows, ...seen.slice(-1)].map(({ id }) => ({ entity, kind: 'updated', id: String(id) })),
    );
    await within(seen.length > 0 ? PATIENCE : SILENCE, whole.given);
    return { events: events().map((data) => JSON.parse(data)) };
  } finally {
    answering.leave();
  }
}

function signal() {
  let give = () => {};
  const given = new Promise<void>((resolve) => (give = resolve));
  return { give: () => give(), given };
}

const askFor = (query: string, caller: Principal) => ({
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'x-test-principal': JSON.stringify(caller),
  },
  body: JSON.stringify({ query }),
});

async function within(milliseconds: number, awaited: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    awaited,
    new Promise((resolve) => (timer = setTimeout(resolve, milliseconds))),
  ]);
  clearTimeout(timer);
}

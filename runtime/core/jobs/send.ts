import { failure, InternalError } from '../errors.ts';
import { duration, isDuration } from '../model/units.ts';
import type { Store } from '../store/store.ts';
import { type Definition, definitionOf, type Definitions, slotOf } from './definitions.ts';
import { type Ask, askIn, askTogether } from './dialect.ts';
import type { SendOptions } from './types.ts';

const MAX_BYTES = 256 * 1024;
const PRIORITIES = 2_147_483_647;

/** Adds jobs to the queue. `own`: the project's own code gives the data, see `Check`. */
export interface Sender {
  send(
    name: string,
    list: readonly unknown[],
    options?: SendOptions,
    as?: 'own',
  ): Promise<number[]>;
}

/** Called after the commit with the milliseconds until the jobs are due. */
export type Announce = (wait: number) => void;

/** A job to add, with all columns of its row. */
interface Sending {
  readonly name: string;
  readonly slot: string | null;
  readonly data: string;
  readonly attempts: number;
  readonly priority: number;
  /** Milliseconds since 1970. */
  readonly at: number | undefined;
  readonly delay: number;
}

/** @param announce tells the workers of this process and of others that there is a new job. */
export function createSender(store: Store, definitions: Definitions, announce: Announce): Sender {
  return {
    send: async (name, list, options = {}, as) => {
      const definition = definitionOf(definitions, name);
      const timing = timingOf(name, definition, options);
      const sendings: Sending[] = [];
      for (const given of list) {
        const { text, value } = await checkedData(definition, given, as);
        sendings.push({ name, slot: slotOf(definition, value), data: text, ...timing });
      }
      if (sendings.length === 0) return [];
      const ids = await add(store, sendings, options);
      const wait = timing.at === undefined ? timing.delay : Math.max(0, timing.at - Date.now());
      store.afterCommit(() => announce(wait));
      return ids;
    },
  };
}

async function add(
  store: Store,
  sendings: readonly Sending[],
  { key, replace = false }: SendOptions,
): Promise<number[]> {
  if (key === undefined) return insert(askTogether(store), sendings, null);
  return store.transact(async (query) => {
    const ask = askIn(store, query);
    const ids: number[] = [];
    for (const sending of sendings)
      ids.push(await addWithKey(ask, sending, { key, replace, store }));
    return ids;
  });
}

interface Keyed {
  readonly key: string;
  readonly replace: boolean;
  readonly store: Store;
}

/** The lock is held until the commit: two senders of one key would each find no waiting job. */
async function addWithKey(
  ask: Ask,
  sending: Sending,
  { key, replace, store }: Keyed,
): Promise<number> {
  const { name } = sending;
  if (store.dialect === 'postgres')
    await ask('select pg_advisory_xact_lock(hashtextextended(current_schema() || ?, 0))', [
      `twofold_jobs:${name}:${key}`,
    ]);
  const [waiting] = await (replace
    ? ask(
        `update twofold_jobs set data = ?, slot = ?, at = coalesce(cast(? as bigint), $now + cast(? as bigint))
         where id = (select min(id) from twofold_jobs where state = 'waiting' and name = ? and key = ?)
           and state = 'waiting'
         returning id`,
        [sending.data, sending.slot, sending.at ?? null, sending.delay, name, key],
      )
    : ask(
        `select id from twofold_jobs where state = 'waiting' and name = ? and key = ?
         order by id limit 1`,
        [name, key],
      ));
  return waiting ? (waiting['id'] as number) : (await insert(ask, [sending], key))[0]!;
}

/** Ids grow in the order of the list. */
async function insert(
  ask: Ask,
  sendings: readonly Sending[],
  key: string | null,
): Promise<number[]> {
  const [{ name, attempts, priority, at, delay }] = sendings as [Sending];
  const rows = await ask(
    `insert into twofold_jobs (name, key, attempts, priority, at, created_at, slot, data)
     select ?, cast(? as text), cast(? as integer), cast(? as integer),
       coalesce(cast(? as bigint), $now + cast(? as bigint)), $now, $listed returning id`,
    [
      name,
      key,
      attempts,
      priority,
      at ?? null,
      delay,
      JSON.stringify(sendings.map(({ slot, data }) => [slot, data])),
    ],
  );
  return rows.map(({ id }) => id as number).sort((a, b) => a - b);
}

function timingOf(name: string, definition: Definition, options: SendOptions) {
  const wrong = (what: string) => new InternalError(`ctx.jobs.send: ${name}: ${what}`);
  const { at, delay, priority = 0, attempts = definition.attempts, key, replace } = options;
  if (!Number.isInteger(priority) || Math.abs(priority) > PRIORITIES)
    throw wrong('priority must be a whole number of 32 bits');
  if (!Number.isSafeInteger(attempts) || attempts < 1 || attempts > PRIORITIES)
    throw wrong('attempts must be a whole number from 1');
  if (at !== undefined && delay !== undefined) throw wrong('it has at and delay: give one of them');
  if (delay !== undefined && !isDuration(delay)) throw wrong('delay must be as 500ms, 10s or 1h');
  if (key === undefined && replace) throw wrong('replace needs a key');
  if (key !== undefined && (typeof key !== 'string' || key === ''))
    throw wrong('key must be text that is not empty');
  return {
    attempts,
    priority,
    at: at === undefined ? undefined : millisecondsOf(at, wrong),
    delay: delay === undefined ? 0 : duration(delay),
  };
}

function millisecondsOf(at: Date | string, wrong: (what: string) => Error): number {
  const time = (at instanceof Date ? at : new Date(at)).getTime();
  if (!Number.isFinite(time)) throw wrong('at must be a Date or a time as 2030-01-31T08:00:00Z');
  return time;
}

/** The data as JSON text, and as the job gets it. */
async function checkedData(
  { name, check }: Definition,
  given: unknown,
  as: 'own' | undefined,
): Promise<{ readonly text: string; readonly value: unknown }> {
  const checked = check ? await check(given ?? {}, as) : given;
  const text = jsonOf(name, checked);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BYTES)
    throw failure.invalid(
      `The data of the job ${name} has ${bytes} bytes of JSON, and at most ${MAX_BYTES} are allowed: store it in a row, and send its id`,
    );
  return { text, value: parseData(text) };
}

/** Reads the data of a job. Bytes, which JSON has as `{ type: 'Buffer', data }`, are a Buffer again. */
export const parseData = (text: string): any =>
  JSON.parse(text, (_, value) =>
    value?.type === 'Buffer' && Array.isArray(value.data) ? Buffer.from(value.data) : value,
  );

function jsonOf(name: string, value: unknown): string {
  try {
    return JSON.stringify(value ?? null) ?? 'null';
  } catch (error) {
    throw failure.invalid(`The data of the job ${name} is no JSON: ${(error as Error).message}`);
  }
}

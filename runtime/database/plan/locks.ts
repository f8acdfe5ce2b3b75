import type { Dialect } from '@twofold/runtime/store';
import type { Blocks, Does, FoundStep } from './plan-step.ts';

/** The lock of a step, and which other statements wait for it. */
export interface Waiting {
  readonly lock: string | null;
  readonly blocks: Blocks;
  readonly online: boolean;
}

const NOTHING: Waiting = { lock: null, blocks: 'nothing', online: false };

/**
 * Locks of PostgreSQL, see its chapter "Explicit Locking". A lock that is held for a moment blocks
 * nothing here; `blocks` is what waits while rows are read or rewritten.
 */
const POSTGRES: Readonly<Record<Does, readonly [lock: string | null, blocks: Blocks]>> = {
  create: [null, 'nothing'],
  drop: ['ACCESS EXCLUSIVE', 'nothing'],
  rename: ['ACCESS EXCLUSIVE', 'nothing'],
  add: ['ACCESS EXCLUSIVE', 'nothing'],
  type: ['ACCESS EXCLUSIVE', 'everything'],
  default: ['ACCESS EXCLUSIVE', 'nothing'],
  require: ['ACCESS EXCLUSIVE', 'everything'],
  relax: ['ACCESS EXCLUSIVE', 'nothing'],
  unique: ['SHARE', 'writes'],
  check: ['ACCESS EXCLUSIVE', 'everything'],
  reference: ['SHARE ROW EXCLUSIVE', 'writes'],
  index: ['SHARE', 'writes'],
  search: ['SHARE ROW EXCLUSIVE', 'writes'],
  value: ['ROW EXCLUSIVE', 'writes'],
  unknown: [null, 'everything'],
};

/** Steps that run online, with the lock that they hold while they look at rows. */
export const ONLINE: ReadonlySet<Does> = new Set([
  'require',
  'unique',
  'check',
  'reference',
  'index',
  'search',
]);
const ONLINE_LOCK = 'SHARE UPDATE EXCLUSIVE';

/** SQLite has one writer. While a table is rebuilt or an index is made, other writes wait. */
const MOMENTS: ReadonlySet<Does> = new Set(['create', 'rename', 'add']);

/** `online`: whether the step will run online. */
export function waitingFor(
  dialect: Dialect,
  { does, table }: Pick<FoundStep, 'does' | 'table'>,
  online: boolean,
): Waiting {
  if (table === null && does !== 'unknown' && does !== 'drop') return NOTHING;
  if (dialect === 'sqlite')
    return {
      lock: 'RESERVED',
      blocks: MOMENTS.has(does) ? 'nothing' : 'writes',
      online: false,
    };
  const [lock, blocks] = POSTGRES[does];
  return online ? { lock: ONLINE_LOCK, blocks: 'nothing', online } : { lock, blocks, online };
}

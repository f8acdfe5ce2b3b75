import type { Principal } from '../../runtime/core/context/request-context.ts';
import type { Access, Item, Items } from './random-items.ts';

/** A number without limits: `units` times ten to the power of minus `PLACES`. */
const PLACES = 60n;
const ONE = 10n ** PLACES;

function exact(value: unknown): bigint {
  const text = String(value);
  const [whole = '', fraction = ''] = text.replace(/^[+-]/, '').split('.');
  const units = BigInt(whole + fraction.padEnd(Number(PLACES), '0'));
  return text.startsWith('-') ? -units : units;
}

/** @example plain(exact('1.50')) // '1.5' */
export function plain(units: bigint): string {
  const digits = String(units < 0n ? -units : units).padStart(Number(PLACES) + 1, '0');
  const text = `${digits.slice(0, -Number(PLACES))}.${digits.slice(-Number(PLACES))}`;
  return (units < 0n ? '-' : '') + text.replace(/\.?0+$/, '');
}

export const OUT_OF_RANGE = Symbol('out of range');

/** A number as the declared type holds it. */
function held(units: bigint, type: string): unknown {
  if (type === 'Decimal') return plain(units);
  if (type === 'Float') return Number(plain(units));
  const whole = units / ONE;
  if (whole * ONE !== units) return OUT_OF_RANGE;
  if (type === 'BigInt') return String(whole);
  return whole >= -(2n ** 31n) && whole < 2n ** 31n ? Number(whole) : OUT_OF_RANGE;
}

const callerOf = (caller: Principal) => (caller.kind === 'user' ? Number(caller.id) : null);
const isAdmin = (caller: Principal) => caller.kind === 'user' && caller.role?.name === 'admin';

function allows(access: Access, caller: Principal, { owner, flag }: Item): boolean {
  const owns = owner !== null && owner === callerOf(caller);
  if (access === 'all') return true;
  if (access === 'owner') return owns;
  if (access === 'flagged') return flag === true;
  return access === 'admin' ? isAdmin(caller) : owns || flag === true;
}

/** Whether a rule can hold for a caller in any row. */
export const mayRead = (access: Access, caller: Principal): boolean =>
  access === 'owner' ? callerOf(caller) !== null : access === 'admin' ? isAdmin(caller) : true;

/** The rows and the values that are there for a caller. */
export function visible({ items, rows, secret, users }: Items, caller: Principal): Item[] {
  return items
    .filter((item) => allows(rows, caller, item))
    .map((item) => ({
      ...item,
      secret: allows(secret, caller, item) ? item['secret'] : null,
      owner: users === 'all' || item['owner'] === callerOf(caller) ? item['owner'] : null,
    }));
}

/** Whether rows meet a filter: true or false, never unknown. */
export function meets(item: Item, where: Readonly<Record<string, any>>): boolean {
  return Object.entries(where).every(([name, words]) => {
    if (name === 'or') return words.some((one: object) => meets(item, one));
    if (name === 'flag') return item['flag'] === words;
    return compares(item[name], words, name === 'n' ? 'Int' : 'String');
  });
}

/** A value, or null, against the words of a filter. */
export function compares(
  value: unknown,
  words: Readonly<Record<string, any>>,
  type: string,
): boolean {
  const isNumber = ['Int', 'BigInt', 'Decimal', 'Float'].includes(type);
  const order = (given: unknown): number => {
    if (!isNumber) return (value as string) < (given as string) ? -1 : value === given ? 0 : 1;
    const [a, b] = [exact(value), exact(given)];
    return a < b ? -1 : a === b ? 0 : 1;
  };
  const is = (given: unknown) =>
    given === null || value === null ? given === value : order(given) === 0;
  return Object.entries(words).every(([word, given]) => {
    if (word === 'isNull') return (value === null) === given;
    if (word === 'eq') return is(given);
    if (word === 'ne') return !is(given);
    if (word === 'in') return given.some(is);
    if (word === 'notIn') return !given.some(is);
    if (value === null) return false;
    return word === 'lt' ? order(given) < 0 : order(given) >= 0;
  });
}

const NUMERIC = new Set(['n', 'big', 'price', 'score', 'secret']);

/** A figure of rows, as its declared type holds it. */
export function figure(rows: readonly Item[], of: string, name: string, type: string): unknown {
  const values = rows.map((row) => row[name]).filter((value) => value !== null);
  if (of === 'countDistinct')
    return new Set(values.map((value) => (name === 'price' ? plain(exact(value)) : value))).size;
  if (values.length === 0) return null;
  if (of === 'min' || of === 'max') return extreme(values, of, name, type);
  const sum = values.reduce<bigint>((total, value) => total + exact(value), 0n);
  if (of === 'sum') return held(sum, type);
  return type === 'Float' ? Number(plain(sum)) / values.length : average(values, sum);
}

function extreme(values: readonly any[], of: string, name: string, type: string): unknown {
  const isLess = (a: any, b: any) => (NUMERIC.has(name) ? exact(a) < exact(b) : a < b);
  const found = values.reduce((a, b) => (isLess(b, a) === (of === 'min') ? b : a));
  return NUMERIC.has(name) ? held(exact(found), type) : found;
}

/** Rounded half away from zero, 20 digits behind those of the sum. */
function average(values: readonly unknown[], sum: bigint): string {
  const scale = Math.max(...values.map((value) => (String(value).split('.')[1] ?? '').length));
  const step = 10n ** (PLACES - BigInt(scale + 20));
  const count = BigInt(values.length) * step;
  const size = sum < 0n ? -sum : sum;
  const rounded = ((2n * size + count) / (2n * count)) * step;
  return plain(sum < 0n ? -rounded : rounded);
}

/** The value that rows are grouped by. */
export function keyOf(item: Item, by: string): unknown {
  const [, name = '', unit] = /^([A-Z]+)(?:_([A-Z]+))?$/.exec(by) ?? [];
  const value = item[name.toLowerCase()];
  if (value === null) return null;
  if (name === 'PRICE') return plain(exact(value));
  return unit === undefined ? value : beginning(value, unit);
}

function beginning(text: string, unit: string): string {
  const at = new Date(text.length === 10 ? `${text}T00:00:00Z` : text);
  at.setUTCMinutes(0, 0, 0);
  if (unit !== 'HOUR') at.setUTCHours(0);
  if (unit === 'WEEK') at.setUTCDate(at.getUTCDate() - ((at.getUTCDay() + 6) % 7));
  if (unit === 'MONTH' || unit === 'YEAR') at.setUTCDate(1);
  if (unit === 'YEAR') at.setUTCMonth(0);
  return at.toISOString().slice(0, text.length);
}

/** Null is the highest value. */
export function inOrder(a: unknown, b: unknown, isNumber: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (!isNumber) return (a as any) < (b as any) ? -1 : a === b ? 0 : 1;
  const difference = exact(a) - exact(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

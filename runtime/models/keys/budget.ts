/** What a key may use. A limit that is absent is none. */
export interface Budget {
  readonly requests_per_minute?: number;
  readonly tokens_per_minute?: number;
  readonly tokens_per_day?: number;
  /** In the unit of the prices. */
  readonly money_per_day?: number;
}

/** What is spent and reserved of a budget. Times are milliseconds, money is in billionths. */
export interface BudgetState {
  /** Requests and tokens of each second that is younger than a minute. */
  readonly seconds: Readonly<Record<string, readonly [requests: number, tokens: number]>>;
  /** The UTC day of the next two members, as `2026-11-23`. */
  readonly day: string;
  readonly dayTokens: number;
  readonly dayMoney: number;
  /** What running requests may still cost at most, by the id of the reservation. */
  readonly held: Readonly<Record<string, HeldAmount>>;
}

export interface HeldAmount {
  readonly tokens: number;
  readonly money: number;
  /** When it is given back, unless its process renews it. */
  readonly until: number;
}

/** The most that a request may cost. */
export interface Cost {
  readonly tokens: number;
  readonly money: number;
}

export interface Reservation extends Cost {
  readonly id: string;
}

/** How much of the limits of a minute is left, for the headers of an answer. */
export interface Left {
  readonly requests: Window | null;
  readonly tokens: Window | null;
}

export interface Window {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until nothing of the minute is used. */
  readonly reset: number;
}

/** A budget that is used up. `retryAfter` is in seconds. */
export interface Refusal {
  readonly limit: keyof Budget;
  readonly retryAfter: number;
}

export const EMPTY: BudgetState = { seconds: {}, day: '', dayTokens: 0, dayMoney: 0, held: {} };

/** A process that does not renew its reservations for so long has died. */
export const LEASE = 45_000;
const MINUTE = 60;
const DAY = 86_400_000;
const BILLION = 1e9;

const secondOf = (now: number) => Math.floor(now / 1000);
const dayOf = (now: number) => new Date(now).toISOString().slice(0, 10);

/** The state without what no longer counts. A second counts until a whole minute is over. */
function current(state: BudgetState, now: number): BudgetState {
  const oldest = secondOf(now) - MINUTE;
  const isToday = state.day === dayOf(now);
  return {
    seconds: Object.fromEntries(
      Object.entries(state.seconds).filter(([second]) => Number(second) >= oldest),
    ),
    day: dayOf(now),
    dayTokens: isToday ? state.dayTokens : 0,
    dayMoney: isToday ? state.dayMoney : 0,
    held: Object.fromEntries(Object.entries(state.held).filter(([, { until }]) => until > now)),
  };
}

/** Reserves the most that a request may cost, if spent and reserved stay within the budget. */
export function reserve(
  before: BudgetState,
  {
    budget,
    reservation,
    now,
  }: { readonly budget: Budget; readonly reservation: Reservation; readonly now: number },
): { readonly state: BudgetState; readonly refusal: Refusal | null } {
  const state = current(before, now);
  const refusal = refusalOf(state, budget, reservation, now);
  if (refusal) return { state, refusal };
  const { id, tokens, money } = reservation;
  const held = { ...state.held, [id]: { tokens, money, until: now + LEASE } };
  return { state: add({ ...state, held }, [1, 0], now), refusal: null };
}

/** Replaces a reservation by what the request did cost. */
export function settle(
  before: BudgetState,
  { id, cost, now }: { readonly id: string; readonly cost: Cost; readonly now: number },
): BudgetState {
  const state = current(before, now);
  const { [id]: _settled, ...held } = state.held;
  const { dayTokens, dayMoney } = state;
  return add(
    { ...state, held, dayTokens: dayTokens + cost.tokens, dayMoney: dayMoney + cost.money },
    [0, cost.tokens],
    now,
  );
}

/** Keeps the reservations of running requests. */
export function renew(state: BudgetState, ids: readonly string[], now: number): BudgetState {
  const held = { ...state.held };
  for (const id of ids) {
    const known = held[id];
    if (known) held[id] = { ...known, until: now + LEASE };
  }
  return { ...state, held };
}

function add(
  state: BudgetState,
  [requests, tokens]: readonly [number, number],
  now: number,
): BudgetState {
  const second = secondOf(now);
  const [r, t] = state.seconds[second] ?? [0, 0];
  return { ...state, seconds: { ...state.seconds, [second]: [r + requests, t + tokens] } };
}

interface Used {
  readonly requests: number;
  readonly tokens: number;
  readonly heldTokens: number;
  readonly heldMoney: number;
}

function usedOf({ seconds, held }: BudgetState): Used {
  const sum = (numbers: readonly number[]) => numbers.reduce((all, number) => all + number, 0);
  const [minutes, running] = [Object.values(seconds), Object.values(held)];
  return {
    requests: sum(minutes.map(([requests]) => requests)),
    tokens: sum(minutes.map(([, tokens]) => tokens)),
    heldTokens: sum(running.map(({ tokens }) => tokens)),
    heldMoney: sum(running.map(({ money }) => money)),
  };
}

function refusalOf(
  state: BudgetState,
  budget: Budget,
  { tokens, money }: Cost,
  now: number,
): Refusal | null {
  const used = usedOf(state);
  const { dayTokens, dayMoney } = state;
  const wanted: readonly [keyof Budget, number, number][] = [
    ['requests_per_minute', used.requests + 1, 1],
    ['tokens_per_minute', used.tokens + used.heldTokens + tokens, 1],
    ['tokens_per_day', dayTokens + used.heldTokens + tokens, 1],
    ['money_per_day', dayMoney + used.heldMoney + money, BILLION],
  ];
  const over = wanted.find(([limit, sum, unit]) => {
    const most = budget[limit];
    return most !== undefined && sum > Math.round(most * unit);
  });
  if (!over) return null;
  const [limit, sum] = over;
  if (limit.endsWith('day')) return { limit, retryAfter: Math.ceil((DAY - (now % DAY)) / 1000) };
  const excess = sum - (budget[limit] as number);
  return {
    limit,
    retryAfter: untilFree(state, limit === 'requests_per_minute' ? 0 : 1, excess, now),
  };
}

/** Seconds until so many requests or tokens of the minute no longer count. */
function untilFree({ seconds }: BudgetState, column: 0 | 1, excess: number, now: number): number {
  let freed = 0;
  for (const [second, counts] of Object.entries(seconds).toSorted(
    ([a], [b]) => Number(a) - Number(b),
  )) {
    freed += counts[column];
    if (freed >= excess) return Math.max(1, Number(second) + MINUTE + 1 - secondOf(now));
  }
  // Running requests hold the rest, and end at an unknown time.
  return 1;
}

/** What is left of the minute. */
export function leftOf(before: BudgetState, budget: Budget, now: number): Left {
  const state = current(before, now);
  const { requests, tokens, heldTokens } = usedOf(state);
  const seconds = Object.keys(state.seconds).map(Number);
  const reset = seconds.length === 0 ? 0 : Math.max(...seconds) + MINUTE + 1 - secondOf(now);
  const window = (limit: number | undefined, used: number): Window | null =>
    limit === undefined ? null : { limit, remaining: Math.max(0, limit - used), reset };
  return {
    requests: window(budget.requests_per_minute, requests),
    tokens: window(budget.tokens_per_minute, tokens + heldTokens),
  };
}

/** What of the budget is spent and reserved now, for people. */
export function useOf(before: BudgetState, now: number): object {
  const state = current(before, now);
  const { requests, tokens, heldTokens, heldMoney } = usedOf(state);
  return {
    requests_in_minute: requests,
    tokens_in_minute: tokens + heldTokens,
    tokens_today: state.dayTokens + heldTokens,
    money_today: (state.dayMoney + heldMoney) / BILLION,
  };
}

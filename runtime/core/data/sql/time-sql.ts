import { sql, type Part, type Sql } from './fragment.ts';
import { JULIAN, MICROSECONDS, MILLISECONDS } from './time-form.ts';

/** A stored time in any form as ISO text in UTC, on SQLite. Null for what is no time. */
export function isoTime(value: Part, format: 'time' | 'day'): Sql {
  const [function_, given] =
    format === 'day' ? ['date', ''] : ['strftime', `'%Y-%m-%dT%H:%M:%fZ', `];
  const size = sql`abs(${value})`;
  const seconds = sql`${value} / case when ${size} >= ${String(MICROSECONDS)} then 1e6 when ${size} >= ${String(MILLISECONDS)} then 1e3 else 1 end`;
  return sql`case when typeof(${value}) = 'text' then ${function_}(${given}${value}) when typeof(${value}) = 'real' and ${size} < ${String(JULIAN)} then ${function_}(${given}${value}) when ${value} is not null then ${function_}(${given}${seconds}, 'unixepoch') end`;
}

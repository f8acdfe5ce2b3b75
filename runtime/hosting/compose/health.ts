import type { HealthCheck } from '../records/app.ts';
import { type Entry, membersOf, type Problems } from './problems.ts';
import { booleanOf, numberOf, secondsOf } from './values.ts';

const KEYS = [
  'test',
  'interval',
  'timeout',
  'retries',
  'start_period',
  'start_interval',
  'disable',
];

/**
 * A health check. `start_period` and `start_interval` are read and have no effect: while an app
 * starts it is asked again and again, and no failure counts.
 */
export function healthOf(entry: Entry | undefined, problems: Problems): Partial<HealthCheck> {
  if (!entry) return {};
  const members = membersOf(entry, problems, KEYS);
  const seconds = (key: string) => {
    const member = members.get(key);
    return member && secondsOf(member, problems);
  };
  for (const key of ['start_period', 'start_interval']) seconds(key);
  const disable = members.get('disable');
  if (disable && booleanOf(disable, problems)) return {};
  const test = members.get('test');
  const command = test && commandOf(test, problems);
  const retries = members.get('retries');
  const interval_s = seconds('interval');
  const timeout_s = seconds('timeout');
  return {
    ...(command && { command }),
    ...(interval_s !== undefined && { interval_s }),
    ...(timeout_s !== undefined && { timeout_s }),
    ...(retries && { retries: numberOf(retries, problems) ?? 3 }),
  };
}

function commandOf({ path, value }: Entry, problems: Problems): string[] | undefined {
  if (typeof value === 'string') return value === 'NONE' ? undefined : ['/bin/sh', '-c', value];
  const words =
    Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : [];
  const [kind, ...rest] = words as string[];
  if (kind === 'NONE') return undefined;
  if (kind === 'CMD' && rest.length > 0) return rest;
  if (kind === 'CMD-SHELL' && rest.length === 1) return ['/bin/sh', '-c', rest[0]!];
  problems.add(path, 'must be a text, or a list that begins with CMD, CMD-SHELL or NONE');
  return undefined;
}

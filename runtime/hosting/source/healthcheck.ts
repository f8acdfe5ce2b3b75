import type { HealthCheck } from '../records/app.ts';
import { type Instruction, parseDockerfile } from './dockerfile-lines.ts';

/** Docker's defaults for HEALTHCHECK. */
const DEFAULTS = { interval_s: 30, timeout_s: 30, retries: 3 };
/** The limits of an app's health check. */
const MAXIMUM = { interval_s: 3600, timeout_s: 300, retries: 100 };

/**
 * The HEALTHCHECK in the last stage of a Dockerfile (or in the stage `target`), or null. Podman's image format cannot store
 * it, so it is read here and stored in a label. Our own probe runs it on both engines.
 *
 * @example
 * healthCheckIn('FROM a\nHEALTHCHECK CMD wget -q localhost')?.command
 * // ['/bin/sh', '-c', 'wget -q localhost']
 */
export function healthCheckIn(text: string, target: string | null = null): HealthCheck | null {
  const stages = new Map<string, HealthCheck | null>();
  let current: HealthCheck | null = null;
  let name = '';
  let index = -1;
  const isTarget = () => target !== null && [name, String(index)].includes(target.toLowerCase());
  for (const instruction of parseDockerfile(text)) {
    if (instruction.name === 'FROM') {
      if (isTarget()) break;
      index += 1;
      const [from = '', , alias] = instruction.rest.toLowerCase().split(/\s+/);
      current = stages.get(from) ?? null;
      name = alias ?? '';
    }
    if (instruction.name === 'HEALTHCHECK') current = toHealthCheck(instruction);
    if (name !== '') stages.set(name, current);
  }
  return current;
}

function toHealthCheck({ flags, rest }: Instruction): HealthCheck | null {
  const [, how = '', what = ''] = /^(\S+)\s*([^]*)$/.exec(rest) ?? [];
  if (how.toUpperCase() !== 'CMD' || what === '') return null;
  const given = (flag: string) =>
    flags.find((each) => each.startsWith(`--${flag}=`))?.slice(flag.length + 3) ?? '';
  return {
    command: execForm(what) ?? ['/bin/sh', '-c', what],
    interval_s: within('interval_s', secondsOf(given('interval'))),
    timeout_s: within('timeout_s', secondsOf(given('timeout'))),
    retries: within('retries', Number(given('retries'))),
  };
}

function within(key: keyof typeof DEFAULTS, value: number): number {
  return value > 0
    ? Math.min(MAXIMUM[key], Math.max(1, key === 'retries' ? Math.ceil(value) : value))
    : DEFAULTS[key];
}

/**
 * The command of the JSON form; null for any other text, also for invalid JSON, which Docker passes
 * to a shell.
 */
function execForm(text: string): string[] | null {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.length > 0 && list.every((each) => typeof each === 'string')
      ? list
      : null;
  } catch {
    return null;
  }
}

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
};

/** The seconds of a duration in Go's format (`1m30s`, `500ms`); 0 for any other text. */
function secondsOf(text: string): number {
  if (!/^(\d+(\.\d+)?(ns|us|ms|s|m|h))+$/.test(text)) return 0;
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ns|us|ms|s|m|h)/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (UNITS[unit as string] ?? 0),
    0,
  );
}

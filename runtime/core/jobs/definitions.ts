import { didYouMean } from '@twofold/schema';
import { ConfigError, InternalError } from '../errors.ts';
import type { InputTypes } from '../http/input-types.ts';
import { duration, isDuration } from '../model/units.ts';
import { type Check, createCheck } from '../routes/check.ts';
import type { JobOf } from './types.ts';

/** A file of `src/jobs/` with every default, times in milliseconds. */
export interface Definition {
  readonly name: string;
  readonly check: Check | undefined;
  readonly attempts: number;
  readonly backoff: { readonly initial: number; readonly factor: number; readonly max: number };
  readonly timeout: number;
  readonly concurrency: Concurrency | undefined;
  readonly transaction: boolean;
  readonly schedule: Pattern | undefined;
  readonly run: JobOf['run'];
  readonly failed: JobOf['failed'];
}

export interface Concurrency {
  readonly limit: number;
  /** The key of a job's data; all jobs of a name share one limit when it is absent. */
  readonly key: ((data: any) => string | number) | undefined;
}

/** When a job is sent by its schedule. */
export interface Pattern {
  readonly cron: string;
  readonly timezone: string;
  readonly missed: 'skip' | 'once';
}

/** The jobs of a project by their names. */
export type Definitions = ReadonlyMap<string, Definition>;

const NAME = /^[a-z][a-z0-9-]{0,62}$/;
const ATTEMPTS = 5;
const BACKOFF = { initial: '1s', factor: 2, max: '1h' };
const TIMEOUT = '60s';

/**
 * Reads the files of jobs.
 *
 * @throws ConfigError with every problem of all of them.
 */
export function readDefinitions(
  files: Readonly<Record<string, JobOf>>,
  inputs: InputTypes,
): Definitions {
  const problems: string[] = [];
  const definitions = Object.entries(files).map(([name, file]) => {
    const wrong = (what: string) => void problems.push(`src/jobs/${name}.ts: ${what}`);
    if (!NAME.test(name)) wrong('its name must have lower case letters, digits and dashes');
    return [name, readDefinition(name, file, { inputs, wrong })] as const;
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return new Map(definitions);
}

interface Reading {
  readonly inputs: InputTypes;
  readonly wrong: (what: string) => void;
}

function readDefinition(name: string, file: JobOf, reading: Reading): Definition {
  const { attempts = ATTEMPTS, transaction = false, timeout = TIMEOUT } = file;
  const { wrong } = reading;
  if (typeof file.run !== 'function') wrong('it has no function run');
  if (!isCount(attempts)) wrong('attempts must be a whole number from 1');
  return {
    name,
    check: checkOf(name, file, reading),
    attempts,
    backoff: backoffOf(file, wrong),
    timeout: spanOf('timeout', timeout, wrong),
    concurrency: concurrencyOf(file, wrong),
    transaction,
    schedule: patternOf(file, wrong),
    run: file.run,
    failed: file.failed,
  };
}

function checkOf(name: string, { input }: JobOf, { inputs, wrong }: Reading): Check | undefined {
  if (input === undefined) return undefined;
  try {
    return createCheck({ inputs }, `src/jobs/${name}.ts`, input);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    wrong(error.problems.join('; ').replace(`src/jobs/${name}.ts: `, ''));
    return undefined;
  }
}

type Wrong = Reading['wrong'];

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 1;

function spanOf(name: string, text: string, wrong: Wrong): number {
  if (typeof text === 'string' && isDuration(text)) return duration(text);
  wrong(`${name} must be a duration such as 500ms, 10s or 1h`);
  return 0;
}

function backoffOf({ backoff = {} }: JobOf, wrong: Wrong): Definition['backoff'] {
  const { initial, factor, max } = { ...BACKOFF, ...backoff };
  if (typeof factor !== 'number' || !(factor >= 1) || !Number.isFinite(factor))
    wrong('backoff.factor must be a number from 1');
  return {
    initial: spanOf('backoff.initial', initial, wrong),
    factor,
    max: spanOf('backoff.max', max, wrong),
  };
}

function concurrencyOf({ concurrency }: JobOf, wrong: Wrong): Concurrency | undefined {
  if (concurrency === undefined) return undefined;
  const { limit, key } =
    typeof concurrency === 'number' ? { limit: concurrency, key: undefined } : concurrency;
  if (!isCount(limit)) wrong('concurrency must be a whole number from 1, or { limit, key }');
  if (key !== undefined && typeof key !== 'function') wrong('concurrency.key must be a function');
  return { limit, key };
}

function patternOf(file: JobOf, wrong: Wrong): Pattern | undefined {
  const { schedule, timezone = 'UTC', missed = 'skip' } = file;
  if (missed !== 'skip' && missed !== 'once') wrong("missed must be 'skip' or 'once'");
  if (schedule === undefined) {
    if (file.timezone !== undefined || file.missed !== undefined)
      wrong('timezone and missed belong to a schedule, and it has none');
    return undefined;
  }
  if (typeof schedule !== 'string') wrong('JOB_SCHEDULE_INVALID schedule must be text');
  return { cron: schedule, timezone, missed };
}

/** @throws InternalError when no file has this name. */
export function definitionOf(definitions: Definitions, name: string): Definition {
  const known = definitions.get(name);
  if (!known) throw new InternalError(`ctx.jobs: ${unknownJob(definitions, name)}`);
  return known;
}

export function unknownJob(definitions: Definitions, name: string): string {
  const hint = didYouMean(name, definitions.keys()) ?? `Add src/jobs/${name}.ts and generate again`;
  return `There is no job ${name}. ${hint}`;
}

/** The key under which the running jobs are counted; null when their number is not limited. */
export function slotOf({ name, concurrency }: Definition, data: unknown): string | null {
  if (!concurrency) return null;
  return concurrency.key ? `${name}:${String(concurrency.key(data))}` : name;
}

/** Milliseconds between a failed attempt and the next one. */
export const waitAfter = ({ backoff }: Definition, attempt: number): number =>
  Math.min(backoff.max, Math.round(backoff.initial * backoff.factor ** (attempt - 1)));

import type { Api, ServerOptions } from '@twofold/schema';
import { type Code, runtime } from '../code.ts';
import { type LiteralValue, str } from '../literal.ts';

const SPANS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;
const SIZES = [
  ['TiB', 1024 ** 4],
  ['GiB', 1024 ** 3],
  ['MiB', 1024 ** 2],
  ['KiB', 1024],
  ['B', 1],
] as const;

/** Milliseconds as a person writes them: `duration('15m')`. */
export function span(milliseconds: number): Code {
  return unit('duration', milliseconds, SPANS);
}

/** Bytes as a person writes them: `size('1MiB')`. */
export function bytes(count: number): Code {
  return unit('size', count, SIZES);
}

function unit(
  name: 'duration' | 'size',
  amount: number,
  units: readonly (readonly [string, number])[],
): Code {
  const [suffix, factor] =
    units.find(([, each]) => amount >= each && amount % each === 0) ?? units[units.length - 1]!;
  const { imports } = runtime(name);
  return { text: `${name}(${str(`${amount / factor}${suffix}`)})`, imports };
}

export function apiSettings(api: Api): LiteralValue {
  const { time, result, memory, ...limits } = api.limits;
  return {
    ...(api as unknown as Record<string, LiteralValue>),
    limits: { ...limits, time: span(time), result: bytes(result), memory: bytes(memory) },
  };
}

export function serverSettings(server: ServerOptions): LiteralValue {
  return {
    ...(server as unknown as Record<string, LiteralValue>),
    bodyLimit: bytes(server.bodyLimit),
  };
}

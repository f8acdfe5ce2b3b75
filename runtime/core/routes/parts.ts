import type { InputTypes } from '../http/input-types.ts';
import type { EnforceRate } from '../http/rate.ts';

/** What own routes need of the server. */
export interface RouteParts {
  /** Bytes. */
  readonly bodyLimit: number;
  readonly inputs: InputTypes;
  /** Counts hits for all processes; without it each process counts its own. */
  readonly enforceRate: EnforceRate | undefined;
  readonly now: () => number;
  readonly tracing?: Spans | undefined;
}

/** Runs work in a span, where there are traces. */
interface Spans {
  span<T>(
    name: string,
    options: { readonly kind: 'internal'; readonly attributes: Readonly<Record<string, string>> },
    work: () => T,
  ): T;
}

import type { InputTypes } from '../http/input-types.ts';
import type { EnforceRate } from '../http/route.ts';

/** The parts of the server that the project's routes need. */
export interface RouteParts {
  /** Bytes. */
  readonly bodyLimit: number;
  readonly inputs: InputTypes;
  /** Counts hits over all processes. Without it, each process counts its own. */
  readonly enforceRate: EnforceRate | undefined;
  readonly now: () => number;
  readonly tracing?: Spans | undefined;
}

/** Runs work in a span, if traces are on. */
interface Spans {
  span<T>(
    name: string,
    options: { readonly kind: 'internal'; readonly attributes: Readonly<Record<string, string>> },
    work: () => T,
  ): T;
}

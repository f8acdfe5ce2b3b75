import type { GraphQLSchema } from 'graphql';
import type { RequestContext } from '../context/request-context.ts';
import type { Rules } from '../data/access/access.ts';
import type { Actor } from '../data/write/write-request.ts';
import type { Asker } from '../store/bounds.ts';

/** The parts that the data API of all callers shares. They are made on first use. */
export interface DataParts extends Actor {
  readonly schema: GraphQLSchema;
}

/** For whom rows are read and written. */
export interface DataCaller {
  readonly context: RequestContext;
  readonly rules: Rules;
  /**
   * The request whose end also ends the statements. Absent after a commit, and for jobs and other
   * code of the server, which may still write after its signal was aborted.
   */
  readonly asker: Asker | undefined;
  /** Empties the loaders of the request, because rows have changed. */
  clear(): void;
}

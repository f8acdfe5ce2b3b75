import {
  type Entity,
  type Operation,
  REST_VERBS,
  restFilters,
  type RestFilter,
  restMembers,
  type RestMember,
  type RestModule,
  isSearched,
  restSorts,
  type RestVerb,
} from '@twofold/schema';
import { ownRootResolver, type Engine } from '../graphql/engine.ts';
import type { RequestContext } from '../context/request-context.ts';
import type { AdminWriteGuard } from './admin-writes.ts';
import { createOperations, type Operations } from './operations.ts';
import { failure } from '../errors.ts';

/** The parts that all requests share. They are made once. */
export interface RestService {
  readonly engine: Engine;
  readonly operations: Operations;
  readonly bodyLimit: number;
  readonly streams: Streams;
  /** What all paths begin with: `/api/`. */
  readonly prefix: string;
  /** The caller of the context of a request, as its reads and writes see them. */
  callerOf(context: RequestContext): RequestContext;
  /** Called in the transaction of each write: before the write, and after it with its answer. */
  writing?: AdminWriteGuard;
  /** Called in the transaction of each write, before its commit. */
  written?(change: WrittenRow): Promise<void>;
  /** By the part of the path after `prefix`. */
  readonly modules: ReadonlyMap<string, ServedModule>;
  /** The fields that REST shows of an entity. */
  members(entity: string): ReadonlyMap<string, RestMember>;
}

/** A row that was written, and how. */
export interface WrittenRow {
  readonly context: RequestContext;
  readonly operation: Operation;
  readonly entity: Entity;
  readonly id: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A module, and what is needed to read its query strings. */
export interface ServedModule {
  readonly module: RestModule;
  readonly filters: ReadonlyMap<string, RestFilter>;
  readonly sorts: readonly string[];
  /** Whether `search=` finds rows. */
  readonly searched: boolean;
  /**
   * Whether the user's own resolver answers the operation; it is then called, and nothing is read
   * or written without it.
   */
  isOwn(verb: RestVerb): boolean;
}

export interface ServiceOptions {
  /** Has the added fields of the modules. */
  readonly engine: Engine;
  readonly modules: readonly RestModule[];
  /** `/api/` when absent. */
  readonly prefix?: string;
  /** The caller of the request when absent. */
  readonly callerOf?: RestService['callerOf'];
  readonly writing?: RestService['writing'];
  readonly written?: RestService['written'];
}

export function createService({
  engine,
  modules,
  prefix = '/api/',
  callerOf = (context) => context,
  writing,
  written,
}: ServiceOptions): RestService {
  const { project } = engine.model;
  const entities = [...project.entities, ...modules.map(({ entity }) => entity)];
  const members = new Map(entities.map((entity) => [entity.name, restMembers(entity)]));
  return {
    engine,
    operations: createOperations(),
    bodyLimit: project.server.bodyLimit,
    streams: createStreams(),
    prefix,
    callerOf,
    ...(writing && { writing }),
    ...(written && { written }),
    modules: new Map(
      modules.map((module) => [module.path.slice(prefix.length), serve(module, engine)]),
    ),
    members: (entity) => members.get(entity) ?? new Map(),
  };
}

function serve(module: RestModule, engine: Engine): ServedModule {
  const isOwn = (verb: RestVerb) => {
    const operation = module[verb];
    return (
      operation !== undefined &&
      ownRootResolver(engine, operation.root, operation.name) !== undefined
    );
  };
  const own = new Set(REST_VERBS.filter(isOwn));
  return {
    module,
    filters: restFilters(module, own.has('list')),
    sorts: restSorts(module, own.has('list')),
    searched: isSearched(module, own.has('list')),
    isOwn: (verb) => own.has(verb),
  };
}

/** The most streams that one caller may have at once. */
const MOST = 2;

/** Counts the streams of each caller. */
interface Streams {
  /** @returns what ends the stream. @throws AppError 429 */
  take(caller: string): () => void;
}

export function createStreams(): Streams {
  const open = new Map<string, number>();
  return {
    take(caller) {
      const now = open.get(caller) ?? 0;
      if (now >= MOST)
        throw failure.tooMany('Two exports are running already: wait until one ends', {
          headers: { 'Retry-After': '5' },
        });
      open.set(caller, now + 1);
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        const left = (open.get(caller) ?? 1) - 1;
        if (left === 0) open.delete(caller);
        else open.set(caller, left);
      };
    },
  };
}

/** A text that is the same for all requests of one caller. */
export function callerKey({ principal, ip }: RequestContext): string {
  if (principal.kind === 'user' || principal.kind === 'api_key')
    return `${principal.kind} ${principal.id}`;
  return principal.kind === 'host' ? 'host' : `ip ${ip}`;
}

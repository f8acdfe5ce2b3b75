import {
  type Entity,
  type Operation,
  REST_VERBS,
  restFilters,
  type RestFilter,
  restMembers,
  type RestMember,
  restModules,
  type RestModule,
  isSearched,
  restSorts,
  type RestVerb,
} from '@twofold/schema';
import { createEngine } from '../graphql/create-engine.ts';
import { ownRootResolver, type Engine } from '../graphql/engine.ts';
import type { RequestContext } from '../context/request-context.ts';
import type { Kernel } from '../module.ts';
import type { Resolvers, ScalarMapping } from '../plugin.ts';
import type { AdminWriteGuard } from './admin-writes.ts';
import { createDocuments, type Documents } from './documents.ts';
import { createStreams, type Streams } from './streams.ts';
import { innerProject, type Names } from './inner-project.ts';
import { requireValues } from './partial.ts';

/** The parts that all requests share. They are made once. */
export interface RestService {
  readonly engine: Engine;
  readonly names: Names;
  readonly documents: Documents;
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
  readonly kernel: Kernel;
  readonly resolvers: Resolvers;
  readonly scalars: Readonly<Record<string, ScalarMapping>>;
  /** `/api/` when absent. */
  readonly prefix?: string;
  /** The caller of the request when absent. */
  readonly callerOf?: RestService['callerOf'];
  readonly writing?: RestService['writing'];
  readonly written?: RestService['written'];
}

const API = '/api/';

/** @throws ConfigError for a scalar mapping that cannot be used. */
export function createService({
  kernel,
  resolvers,
  scalars,
  prefix = API,
  callerOf = (context) => context,
  writing,
  written,
}: ServiceOptions): RestService {
  const { project } = kernel;
  const inner = innerProject(project, Object.keys(resolvers).length > 0);
  const engine = createEngine(
    { ...kernel, project: inner.project },
    requireValues(project, resolvers),
    scalars,
  );
  const members = new Map(project.entities.map((entity) => [entity.name, restMembers(entity)]));
  return {
    engine,
    names: inner.names,
    documents: createDocuments(),
    bodyLimit: project.server.bodyLimit,
    streams: createStreams(),
    prefix,
    callerOf,
    ...(writing && { writing }),
    ...(written && { written }),
    modules: new Map(
      restModules(project).map((module) => {
        const name = module.path.slice(API.length);
        return [name, serve({ ...module, path: prefix + name }, engine)];
      }),
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

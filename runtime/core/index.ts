/** Everything that a project may import. What is not listed here is internal. */

// The server
export { createServer } from './server.ts';
export type { Server } from './server.ts';
export type { Running } from './running.ts';
export { defineApp } from './app.ts';
export type { App } from './app.ts';
export type { Capability } from './capability.ts';
export { ifInstalled } from './if-installed.ts';
export type { BootOptions } from './boot.ts';
export type {
  AfterEvent,
  AfterExecute,
  ExecuteCall,
  GraphqlHooks,
  GraphqlResult,
  Hooks,
  MutationsOf,
  Plugin,
  Resolver,
  Resolvers,
  ScalarMapping,
} from './plugin.ts';
export { queryOfApp } from './query-app.ts';
export { settingsOfApp } from './settings-of-app.ts';
export { explainApp } from './explain-app.ts';
export { openapiOfApp } from './openapi-of-app.ts';

// The model, in the compact form that emitted code uses
export {
  aggregate,
  caller,
  count,
  create,
  createMany,
  custom,
  defineProject,
  duration,
  exists,
  searchHighlight,
  searchRank,
  get,
  groups,
  list,
  listAbstract,
  loadMany,
  loadOne,
  many,
  node,
  nodes,
  one,
  remove,
  removeMany,
  size,
  subscribe,
  through,
  update,
  updateMany,
  upsert,
  viaType,
} from './model/index.ts';
export type { FieldTable, LoadersOf, Model, RowLoader } from './model/index.ts';
export type { AuthModel, HostingModel } from '@twofold/schema';

// In functions of the project's own
export { openContext, type OpenContext } from './open-context.ts';
export { inferred } from './inferred.ts';

// The data API
export type {
  DataInput,
  EntityData,
  EntityShape,
  ListInput,
  OrderInput,
  WhereInput,
} from './data-api/types.ts';

// The request
export type { Logger } from './config/log.ts';
export type {
  CurrentUser,
  OwnTransactionOptions,
  Principal,
  RequestContext,
} from './context/request-context.ts';
export type { Values } from './context/values.ts';
export type { AfterCall, HookCall, HookShape, HooksOf } from './data-api/hook-types.ts';
export type { EntityHook, EntityHookOf, EntityHooks } from './context/entity-hooks.ts';

// Errors
export { AppError, ConfigError, failure, InternalError } from './errors.ts';
export type { FailureOptions } from './errors.ts';

// The database
export {
  alterTable,
  createFoldedIndex,
  createSearchIndex,
  dropSearchIndex,
} from './store/tables/altering.ts';
export type { TableAlterer } from './store/tables/altering.ts';
export type { SearchIndexOptions } from './store/search/search-index.ts';
export type { FoldedIndex } from './store/tables/folded.ts';
export { columnTypes } from './store/tables/column-types.ts';
export type { TableOf } from './schema-names/table-of.ts';
export type { ColumnTypes } from './store/tables/column-types.ts';
export type { Migration, MigrationContext } from './store/migrations/migration.ts';
export type { MigrationStep } from '@twofold/schema';
export type { Dialect, Store } from './store/store.ts';
export { sql } from 'kysely';
export type { ColumnType, Generated, Kysely, Selectable } from 'kysely';

// GraphQL's own types
export type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';

// Own routes and ways to sign in
export type { Credential, Credentialed, CredentialRequest } from './context/credential.ts';
export type { AnyRouter as Router, MiddlewareOf, RouteOptions, RoutesOf } from './routes/types.ts';
export type { StandardSchema } from './routes/standard-schema.ts';
export type { UploadedPart, UploadOptions } from './routes/upload.ts';

// Jobs
export { jobsApp } from './jobs-app.ts';
export type { JobOf, JobRecord, JobsApi, JobsOf, JobState, SendOptions } from './jobs/types.ts';

// Koa's own types, so that a project needs no dependency of its own for them
export type { Middleware } from 'koa';

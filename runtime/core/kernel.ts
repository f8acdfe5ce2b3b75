/**
 * `@twofold/runtime/kernel`: the parts that the packages of capabilities (auth, hosting, models)
 * build upon. A project's own code imports `@twofold/runtime`.
 */
export type { App } from './app.ts';
export type { AuditedChange, AuditedRequest, AuditLog } from './audit/audit-log.ts';
export { boot, reachingDatabase, rootOf, settingsIn, withBooted } from './boot.ts';
export { databaseReport, guardOfDatabase, prepareDatabase } from './database-at-start.ts';
export type { Booted, BootOptions, Misfit } from './boot.ts';
export type { Capability, OwnApplication } from './capability.ts';
export { addServices, serviceOf } from './own-context/services.ts';
export { asSystem, systemContext } from './own-context/system-context.ts';
export type { Credential, Credentialed, CredentialRequest } from './context/credential.ts';
export type { Logger } from './config/log.ts';
export type { Explain, Explained, ExplainedStatement } from './context/explained.ts';
export type { Environment, Settings } from './config/settings.ts';
export type { Membership, Principal, RequestContext } from './context/request-context.ts';
export { SCOPE, hasScope } from './context/scopes.ts';
export { createValues } from './context/values.ts';
export { insertWithHooks } from './data/write/insert-with-hooks.ts';
export { followRows } from './data/write/made-rows.ts';
export { type AdminWrite, type AdminWriteGuard, guardAdminWrites } from './rest/admin-writes.ts';
export type { Family, Sample } from './metrics/family.ts';
export { renderFamilies } from './metrics/render.ts';
export type {
  BackupHead,
  BackupTable,
  DumpReport,
  Kernel,
  MigrationReport,
  RevalidateCaller,
  ServerModule,
} from './module.ts';
export type { ScalarMapping } from './plugin.ts';
export { reportToDev } from './dev-report.ts';
export type { LogEntry, LogFilter } from './recorder/entry.ts';
export type { FigureRange, Figures } from './recorder/figures.ts';
export type { LogBatch, LogBatchQuery, LogPage, LogPageQuery } from './recorder/log-page.ts';
export type { Recorder } from './recorder/recorder.ts';
export { createServerInfo, diskOf, type ServerInfo } from './server-info.ts';
export { commandUrl, databaseUrl, withDatabase } from './store/database-settings.ts';
export { createBoundedCache } from './store/bounded-cache.ts';
export { takeSeedValues } from './data/seed-values.ts';
export { columnTypes, dialectOf } from './store/tables/column-types.ts';
export { createFoldedIndex } from './store/tables/altering.ts';
export { folded } from './store/tables/folded.ts';
export { LAST_OWNER, isLastOwner } from './store/last-owner.ts';
export type { Migration } from './store/migrations/migration.ts';
export { createSemaphore } from './store/transactions/semaphore.ts';
export { CHANGE_COUNTER } from './store/change-counter.ts';
export type { Columns } from './store/columns.ts';
export type { Dialect, Store } from './store/store.ts';
export { VERSION } from './version.ts';
export { isTimeZone } from './config/time-zone.ts';
export { uuid7 } from './store/uuid7.ts';

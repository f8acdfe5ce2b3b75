export type * from './model.ts';
export type * from './auth/model.ts';
export type * from './console/model.ts';
export type * from './hosting/model.ts';
export type { AuthValues } from './auth/manifest.ts';
export type * from './diagnostic.ts';
export type * from './migration-steps.ts';
export type * from './tables.ts';
export type { Parsed } from './build/facts.ts';
export type { Manifest } from './parse/manifest.ts';
export type { ParsedSchema } from './parse/schema.ts';
export type { Known, ProjectInput, ProjectReading } from './reading.ts';
export type { BodySpec, JsonSchema, Method, RouteSpec } from './routes/route.ts';
export type { SourceText } from './source.ts';
export { QUERY_ROOT } from './build/facts.ts';
export {
  adminDataOf,
  capabilities,
  capabilitiesOf,
  isNeededIn,
  opens,
  signsIn,
} from './capabilities.ts';
export type { CapabilitySpec } from './capability.ts';
export { CRUD_FILE } from './crud/print-crud.ts';
export type * as schemaTypes from './typed/schema-types.ts';
export { buildProject } from './build/project.ts';
export { canonicalType, fitsDatabaseType } from './database-types.ts';
export { newDefaultsOf } from './changed-defaults.ts';
export type { ChangedDefault } from './changed-defaults.ts';
export { didYouMean } from './did-you-mean.ts';
export { distinctColumn, type ImpliedList, impliedList } from './implied-lists.ts';
export { impliedFilter, impliedOrder, impliedWrite, shapesOf } from './implied-shapes.ts';
export { ownSize, paged } from './paged.ts';
export { directivesSdl } from './directives/index.ts';
export { formatDiagnostic } from './format-diagnostic.ts';
export { OPERATORS } from './build/filter-words.ts';
export { FILLED_COLUMNS } from './auth/rules/user-type.ts';
export { defaultAuth } from './auth/defaults.ts';
export { identityWrites, identityWriteText } from './auth/identity-writes.ts';
export type { IdentityWrite } from './auth/identity-writes.ts';
export { shapeOwner } from './write-shape-ids.ts';
export { isEmail, isPhone, isUsername } from './identity-values.ts';
export {
  camelCase,
  indexName,
  isOwnTable,
  isReservedTable,
  pascalCase,
  pluralize,
  searchName,
  singularize,
  snakeCase,
} from './names.ts';
export { createKnown } from './known.ts';
export { checkCost } from './limits/check-cost.ts';
export { costOf } from './limits/cost.ts';
export { checkMeasures, createMeasure, limitError } from './limits/measures.ts';
export type { Fragments, Measures } from './limits/measures.ts';
export { applyEdits } from './parse/changes.ts';
export { parseManifest } from './parse/manifest.ts';
export { parseSchema } from './parse/schema.ts';
export { checkManifest, checkSchema, readProject } from './read-project.ts';
export { exampleOf } from './build/comparisons.ts';
export { inverseSteps, misfitIn, objectsOf, tableOf, titleOf } from './migration-steps.ts';
export { buildTables, columnChecks, storedColumn } from './tables.ts';
export { withLaterSettings } from './later-settings.ts';
export { compareVersions, otherRelease, releaseOf } from './releases.ts';
export { sunsetOf } from './sunset.ts';
export { shade } from './auth/contrast.ts';
export { isAuthRouteServed } from './auth/served-routes.ts';
export { MEMBERS } from './auth/organizations.ts';
export { authRoutes } from './auth/routes.ts';
export { providerSettings, type OAuthPreset } from './auth/oauth-presets.ts';
export { isAnyPort, isAppAddress } from './auth/return-to.ts';
export { consoleRoutes } from './console/routes/index.ts';
export { isConsoleRouteServed } from './console/served-routes.ts';
export { manifestKeys, writtenManifest } from './parse/manifest-keys.ts';
export type { ManifestKey } from './parse/manifest-keys.ts';
export { APP_STATUSES } from './hosting/statuses.ts';
export type { AppStatus, DeploymentStatus } from './hosting/statuses.ts';
export { NOTIFICATION_EVENTS } from './hosting/notification-shapes.ts';
export { moveDescription } from './hosting/move-shapes.ts';
export { hostingRoutes } from './hosting/routes/index.ts';
export { modelRoutes } from './models/routes.ts';
export { printSettings } from './manifest-schema.ts';
export { durationText, parseDuration, sizeText } from './manifest/quantities.ts';
export type { UnitPrinters } from './manifest/units.ts';
export { openapiDocument, projectRoutes } from './openapi.ts';
export type { OpenapiDocument } from './openapi.ts';
export { isComparable, restMembers } from './rest/members.ts';
export type { RestMember } from './rest/members.ts';
export { createMemory, remembered } from './remembered.ts';
export { adminProject, keptBySignIn } from './rest/admin-project.ts';
export { restAnswer, restModules, REST_VERBS } from './rest/modules.ts';
export type { RestAnswer, RestModule, RestVerb } from './rest/modules.ts';
export {
  defaultPageSize,
  isSearched,
  memberOperators,
  RESERVED,
  restFilters,
  restSorts,
} from './rest/parameters.ts';
export type { RestFilter } from './rest/parameters.ts';
export { restSchemas } from './rest/schemas.ts';
export { ADMIN_DATA, adminDataRoutes } from './routes/admin-data.ts';
export { auditRoutes } from './routes/audit.ts';
export { jobRoutes } from './routes/jobs.ts';
export { restRoutes } from './routes/rest.ts';
export type { IsOwn } from './routes/rest.ts';
export { leafSchema } from './rest/value-schemas.ts';
export { documentRoutes, systemRoutes } from './routes/system.ts';

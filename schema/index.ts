export type * from './model.ts';
export type * from './auth/model.ts';
export type * from './console/manifest.ts';
export type * from './hosting/model.ts';
export type { AuthValues } from './auth/manifest.ts';
export type * from './diagnostic.ts';
export type * from './migration-steps.ts';
export type * from './tables.ts';
export { QUERY_ROOT, type Parsed } from './build/facts.ts';
export { parseManifest, type Manifest } from './parse/manifest.ts';
export { parseSchema, type ParsedSchema } from './parse/schema.ts';
export type { Known, ProjectInput, ProjectReading } from './reading.ts';
export { describedRoute, namedRoutes, stream } from './routes/described-route.ts';
export type { InputOf, RouteWords, UsualRoute } from './routes/described-route.ts';
export type { BodySpec, JsonSchema, Method, RouteSpec } from './routes/route.ts';
export { formatDiagnostic } from './diagnostic.ts';
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
export { newDefaultsOf, type ChangedDefault } from './changed-defaults.ts';
export { first, last, locationOf, lookUp, missing, MissingError, present } from './present.ts';
export { didYouMean, nearest } from './did-you-mean.ts';
export {
  AddressError,
  DRIVER_PARAMETERS,
  oddParameters,
  parsePostgresAddress,
  type Place,
  type PostgresAddress,
} from './postgres-address.ts';
export { distinctColumn, impliedList, ownSize, paged, type ImpliedList } from './implied-lists.ts';
export { impliedFilter, impliedOrder, impliedWrite, shapesOf } from './implied-shapes.ts';
export { directivesSdl } from './directives/index.ts';
export { OPERATORS } from './build/filter-words.ts';
export { FILLED_COLUMNS } from './auth/rules/user-type.ts';
export { defaultAuth } from './auth/build.ts';
export { identityWrites, identityWriteText, type IdentityWrite } from './auth/identity-writes.ts';
export { shapeOwner } from './build/write-shapes.ts';
export { isEmail, isPhone, isUsername } from './build/identity.ts';
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
export { checkCost, costOf } from './limits/check-cost.ts';
export {
  checkMeasures,
  createMeasure,
  limitError,
  type Fragments,
  type Measures,
} from './limits/measures.ts';
export { applyEdits } from './parse/changes.ts';
export { checkManifest, checkSchema, readProject } from './read-project.ts';
export { exampleOf } from './build/comparisons.ts';
export { inverseSteps, misfitIn, objectsOf, tableOf, titleOf } from './migration-steps.ts';
export { buildTables, columnChecks, storedColumn } from './tables.ts';
export { withLaterSettings } from './later-settings.ts';
export { compareVersions, otherRelease, releaseOf } from './releases.ts';
export { sunsetOf } from './sunset.ts';
export { shade } from './auth/rules/theme.ts';
export { MEMBERS } from './auth/section.ts';
export { authRoutes, isAuthRouteServed } from './auth/routes.ts';
export { providerSettings, type OAuthPreset } from './auth/oauth-presets.ts';
export { isAnyPort, isAppAddress } from './auth/rules/addresses.ts';
export { consoleRoutes, isConsoleRouteServed } from './console/routes.ts';
export { manifestKeys, writtenManifest, type ManifestKey } from './parse/manifest-keys.ts';
export {
  APP_STATUSES,
  type AppStatus,
  DEPLOYMENT_STATUSES,
  type DeploymentStatus,
} from './hosting/statuses.ts';
export { hostingRoutes } from './hosting/routes.ts';
export { modelRoutes } from './models/routes.ts';
export { printSettings } from './manifest-schema.ts';
export { durationText, parseDuration, sizeText } from './manifest/quantities.ts';
export type { UnitPrinters } from './manifest/units.ts';
export { openapiDocument, projectRoutes, type OpenapiDocument } from './openapi.ts';
export { isComparable, restMembers, type RestMember } from './rest/members.ts';
export { createMemory, remembered } from './remembered.ts';
export { adminModules, isHidden, keptBySignIn } from './rest/admin-modules.ts';
export {
  restAnswer,
  restArguments,
  restModules,
  REST_VERBS,
  type RestAnswer,
  type RestModule,
  type RestVerb,
} from './rest/modules.ts';
export {
  defaultPageSize,
  isSearched,
  memberOperators,
  RESERVED,
  restFilters,
  restSorts,
  type RestFilter,
} from './rest/parameters.ts';
export { restSchemas } from './rest/schemas.ts';
export { ADMIN_DATA, adminDataRoutes } from './routes/admin-data.ts';
export { auditRoutes } from './routes/audit.ts';
export { jobRoutes } from './routes/jobs.ts';
export { restRoutes, type IsOwn } from './routes/rest.ts';
export { leafSchema } from './rest/value-schemas.ts';
export { documentRoutes, systemRoutes } from './routes/system.ts';

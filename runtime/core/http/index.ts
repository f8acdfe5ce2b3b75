/**
 * `@twofold/runtime/http`: what the packages of capabilities (auth, hosting, models) need to answer
 * requests. A project's own code imports `@twofold/runtime`.
 */
export {
  type AddressMatcher,
  addressMatcher,
  clientIp,
  isTrustedConnection,
  koaOf,
  trustConnection,
} from './request-context.ts';
export { guardedLookup, isPrivateAddress, isPrivateHost } from './private-address.ts';
export { type BuiltFile, type BuiltFiles, readBuiltFiles, sendBuiltFile } from './built-files.ts';
export { readDesign } from './design.ts';
export { isOwnOrigin } from './cross-origin.ts';
export { bytesOf, readBody } from './read-body.ts';
export { bindFlows, type Flow, flowsIn, flowsOf, type Handled } from './flow.ts';
export { bindRoutes, reply } from './route.ts';
export type { BoundRoute, Call, Guard, Handler, Reply } from './route.ts';
export { refuseUnreadable, refuseUpgrade } from './unreadable.ts';
export { createChecks, type LoadValidator, momentOf } from './validate.ts';
export { isRevalidation } from './request-marks.ts';

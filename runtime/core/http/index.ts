/**
 * `@twofold/runtime/http`: what the packages of capabilities (auth, hosting, models) need to answer
 * requests. A project's own code imports `@twofold/runtime`.
 */
export { type AddressMatcher, addressMatcher, clientIp } from './request-context.ts';
export { guardedLookup } from './private-address.ts';
export { isPrivateAddress, isPrivateHost } from './private-address.ts';
export { momentOf } from './moment.ts';
export { type BuiltFile, type BuiltFiles, readBuiltFiles, sendBuiltFile } from './built-files.ts';
export { readDesign } from './design.ts';
export { koaOf } from './koa-of.ts';
export { isRevalidation } from './revalidation.ts';
export { isOwnOrigin } from './cross-origin.ts';
export { readBody } from './read-body.ts';
export { bytesOf } from './read-body.ts';
export { bindRoutes, reply } from './route.ts';
export type { BoundRoute, Call, Guard, Handler, Reply } from './route.ts';
export { isTrustedConnection, trustConnection } from './request-context.ts';
export { refuseUpgrade } from './unreadable.ts';
export { refuseUnreadable } from './unreadable.ts';
export { createChecks } from './validate.ts';
export type { LoadValidator } from './validate.ts';

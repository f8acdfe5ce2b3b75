/** `@twofold/hosting`: what a project, or a part that works inside hosting, may import. */
export { restoreHostApp } from './hosting.ts';
export { hosting } from './hosting.ts';
export type { HostedPart, HostedWork, HostedContext } from './hosted-part.ts';
export type { EventHub } from './host/events.ts';
export type { HostingModel } from '@twofold/schema';

import type { Middleware } from 'koa';
import { createEndpoint } from './endpoint.ts';
import { createService, type ServiceOptions } from './service.ts';

/** What answers the requests of every module. It is loaded with the first of them. */
export const openEndpoint = (options: ServiceOptions): Middleware =>
  createEndpoint(createService(options));

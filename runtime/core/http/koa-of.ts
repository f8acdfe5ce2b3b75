import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import Koa, { type Context as KoaContext } from 'koa';
import type { RequestContext } from '../context/request-context.ts';
import { koaOfRequest } from './request-context.ts';

/** Koa's context, and whether a client waits for the answer of its request. */
export interface FoundKoa {
  readonly koa: KoaContext;
  readonly attached: boolean;
}

/**
 * Koa's context of a request, for code that sets headers and cookies. Code that no request calls
 * gets one whose answer is sent to no client.
 */
export function koaOf(context: RequestContext): FoundKoa {
  const koa = koaOfRequest(context);
  if (koa) return { koa, attached: true };
  const request = new IncomingMessage(new Socket());
  const detached = new Koa().createContext(request, new ServerResponse(request));
  detached.state['context'] = context;
  return { koa: detached, attached: false };
}

import type { McpSettings, Project } from '@twofold/schema';
import type { IncomingHttpHeaders } from 'node:http';
import { AppError, failure } from '../errors.ts';
import { hasScope } from '../context/scopes.ts';
import type { Principal } from '../context/request-context.ts';

/** The scopes of an API key: to call tools, and to call those that write. */
export const SCOPES = { read: 'mcp:read', write: 'mcp:write' } as const;

/** Tells a client which credentials it needs, and where they are described (RFC 9728). */
export interface Challenge {
  /** The path of the description. */
  readonly path: string;
  /** The metadata of RFC 9728: a resource that takes bearer tokens. */
  metadata(headers: IncomingHttpHeaders): Readonly<Record<string, unknown>>;
  /** `WWW-Authenticate` of a 401. */
  header(headers: IncomingHttpHeaders, error?: string): string;
  /** @throws AppError 401 without a credential, 403 for a key without the scope. */
  assertMayCall(principal: Principal, headers: IncomingHttpHeaders): void;
  /** @throws AppError 403 for a key that may not write. */
  assertMayWrite(principal: Principal, headers: IncomingHttpHeaders): void;
}

/** @param appUrl the address of the server; that of the request when absent. */
export function createChallenge(
  { name, api }: Project,
  mcp: McpSettings,
  appUrl: string | undefined,
): Challenge {
  const path = `/.well-known/oauth-protected-resource${mcp.path}`;
  const originOf = ({ host = 'localhost' }: IncomingHttpHeaders) =>
    appUrl !== undefined && URL.canParse(appUrl) ? new URL(appUrl).origin : `http://${host}`;
  const header: Challenge['header'] = (headers, error) =>
    `Bearer ${error === undefined ? '' : `error="${error}", `}resource_metadata="${originOf(headers)}${path}"`;
  const assertScope = (principal: Principal, scope: string, headers: IncomingHttpHeaders) => {
    if (mayUse(principal, scope)) return;
    throw new AppError(403, 'INSUFFICIENT_SCOPE', `the API key needs the scope ${scope}`, {
      headers: {
        'WWW-Authenticate': `${header(headers, 'insufficient_scope')}, scope="${scope}"`,
      },
      extensions: { scope },
    });
  };
  return {
    path,
    header,
    metadata: (headers) => ({
      resource: originOf(headers) + mcp.path,
      resource_name: name,
      bearer_methods_supported: ['header'],
      scopes_supported: mcp.writes ? Object.values(SCOPES) : [SCOPES.read],
    }),
    assertMayCall: (principal, headers) => {
      if (principal.kind === 'anonymous' && api.access === 'user') throw failure.unauthenticated();
      assertScope(principal, SCOPES.read, headers);
    },
    assertMayWrite: (principal, headers) => assertScope(principal, SCOPES.write, headers),
  };
}

/** Whether the caller has a scope. Only API keys are limited by scopes. */
export const mayUse = (principal: Principal, scope: string): boolean =>
  principal.kind !== 'api_key' || hasScope(principal.scopes, scope);

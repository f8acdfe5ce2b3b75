import type { RouteSpec } from '../routes/route.ts';
import {
  CLIENT,
  CREDENTIAL,
  ERROR,
  LOGIN,
  NEW_CREDENTIAL,
  object,
  PASSKEY,
  PASSKEYS,
  SHORT,
  STEP,
  TOKEN,
} from './route-shapes.ts';

const tag = 'auth';
const ok = (description: string, schema: RouteSpec['responses'][number]['schema']) => ({
  description,
  ...(schema && { schema }),
});
const refused = (description: string) => ({ description, schema: ERROR });
const signedIn = { 401: refused('No valid bearer token') };
const proof = { ...signedIn, 403: refused('Reauthentication required') };
/** A bearer token, or the ticket of a sign-in in the body. */
const byTicket = { access: 'public', security: ['bearer'], tag } as const;
const OPTIONS = { type: 'object', additionalProperties: true } as const;

/** Routes of passkeys (WebAuthn Level 3). They do not exist with `passkeys: false`. */
export const passkeyRoutes = [
  {
    id: 'passkeyOptions',
    method: 'POST',
    path: '/api/auth/passkeys/options',
    ...byTicket,
    summary: 'What PublicKeyCredential.parseCreationOptionsFromJSON takes, to make a passkey',
    body: { kind: 'json', optional: true, schema: object({ ticket: TOKEN }) },
    responses: {
      200: ok('The creation options', OPTIONS),
      409: refused('Too many passkeys'),
      ...proof,
    },
  },
  {
    id: 'addPasskey',
    method: 'POST',
    path: '/api/auth/passkeys',
    ...byTicket,
    summary: 'Add the passkey that the browser made; with a ticket the sign-in goes on',
    body: {
      kind: 'json',
      schema: object({ credential: NEW_CREDENTIAL, name: SHORT, ticket: TOKEN }, ['credential']),
    },
    responses: {
      201: ok('The passkey; with a ticket also the login object as `login`', PASSKEY),
      202: ok('Another step is left', STEP),
      400: refused('Invalid or expired token'),
      401: refused('Invalid credentials'),
      409: refused('Passkey already registered'),
    },
  },
  {
    id: 'passkeyLoginOptions',
    method: 'POST',
    path: '/api/auth/passkeys/login/options',
    access: 'public',
    tag,
    summary:
      'What PublicKeyCredential.parseRequestOptionsFromJSON takes, to sign in without a name',
    body: { kind: 'json', optional: true, schema: object({}) },
    responses: {
      200: ok('The request options', OPTIONS),
      401: refused('API key required'),
      429: refused('Rate limit exceeded'),
    },
  },
  {
    id: 'passkeyLogin',
    method: 'POST',
    path: '/api/auth/passkeys/login',
    access: 'public',
    tag,
    summary: 'Sign in with a passkey',
    body: { kind: 'json', schema: object({ credential: CREDENTIAL, ...CLIENT }, ['credential']) },
    responses: {
      200: ok('The login object', LOGIN),
      401: refused('Invalid credentials'),
      429: refused('Rate limit exceeded'),
    },
  },
  {
    id: 'secondFactorOptions',
    method: 'POST',
    path: '/api/auth/second-factor/options',
    access: 'public',
    tag,
    summary: 'Request options for a passkey as the second factor of a sign-in',
    body: { kind: 'json', schema: object({ ticket: TOKEN }, ['ticket']) },
    responses: {
      200: ok('The request options', OPTIONS),
      400: refused('Invalid or expired token'),
      429: refused('Rate limit exceeded'),
    },
  },
  {
    id: 'reauthenticateOptions',
    method: 'POST',
    path: '/api/auth/reauthenticate/options',
    access: 'session',
    tag,
    summary: 'Request options for a passkey that reauthenticates',
    body: { kind: 'json', optional: true, schema: object({}) },
    responses: { 200: ok('The request options', OPTIONS), ...signedIn },
  },
  {
    id: 'passkeys',
    method: 'GET',
    path: '/api/auth/passkeys',
    access: 'session',
    tag,
    summary: "One's own passkeys",
    responses: { 200: ok('The passkeys', PASSKEYS), ...signedIn },
  },
  {
    id: 'renamePasskey',
    method: 'PATCH',
    path: '/api/auth/passkeys/:id',
    access: 'session',
    tag,
    summary: 'Rename a passkey',
    body: { kind: 'json', schema: object({ name: SHORT }, ['name']) },
    responses: {
      200: ok('The passkey', PASSKEY),
      404: refused('Passkey not found'),
      ...proof,
    },
  },
  {
    id: 'removePasskey',
    method: 'DELETE',
    path: '/api/auth/passkeys/:id',
    access: 'session',
    tag,
    summary: 'Remove a passkey',
    responses: {
      204: ok('Removed', undefined),
      404: refused('Passkey not found'),
      409: refused('Cannot remove the last sign-in method'),
      ...proof,
    },
  },
] as const satisfies readonly RouteSpec[];

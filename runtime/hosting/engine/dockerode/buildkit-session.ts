import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import {
  type handleUnaryCall,
  type MethodDefinition,
  Server,
  ServerCredentials,
  status,
} from '@grpc/grpc-js';
import type Dockerode from 'dockerode';
import protobuf from 'protobufjs';

/**
 * A connection on which BuildKit calls us while it builds. Secrets are read through it, and so are
 * neither in the build's context nor in its options.
 */
export interface BuildSession {
  readonly id: string;
  close(): void;
}

const messages = protobuf.Root.fromJSON({
  nested: {
    SecretRequest: { fields: { ID: { type: 'string', id: 1 } } },
    SecretResponse: { fields: { data: { type: 'bytes', id: 1 } } },
    HealthRequest: { fields: { service: { type: 'string', id: 1 } } },
    HealthResponse: { fields: { status: { type: 'int32', id: 1 } } },
  },
});

const GET_SECRET = '/moby.buildkit.secrets.v1.Secrets/GetSecret';
const CHECK = '/grpc.health.v1.Health/Check';
const SERVING = 1;

/**
 * Opens a session that serves `secrets` by their ids. BuildKit also asks every few seconds whether
 * the session is well, and ends a build without an answer.
 */
export async function openBuildSession(
  client: Dockerode,
  secrets: Readonly<Record<string, string>>,
): Promise<BuildSession> {
  const id = randomUUID();
  const socket = await upgrade(client, id);
  const server = new Server();
  server.addService(
    { getSecret: unary<{ ID: string }, { data: Buffer }>(GET_SECRET, 'Secret') },
    { getSecret: secretReader(secrets) },
  );
  server.addService(
    { check: unary<object, { status: number }>(CHECK, 'Health') },
    {
      check: (_call: unknown, answer: Parameters<HealthCheck>[1]) =>
        answer(null, { status: SERVING }),
    },
  );
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  injector.injectConnection(socket);
  return {
    id,
    close() {
      server.forceShutdown();
      socket.destroy();
    },
  };
}

type HealthCheck = handleUnaryCall<object, { status: number }>;

function secretReader(
  secrets: Readonly<Record<string, string>>,
): handleUnaryCall<{ ID: string }, { data: Buffer }> {
  return ({ request }, answer) => {
    const value = Object.hasOwn(secrets, request.ID) ? secrets[request.ID] : undefined;
    if (value !== undefined) return answer(null, { data: Buffer.from(value) });
    answer({ code: status.NOT_FOUND, details: `no secret ${request.ID}` });
  };
}

function upgrade(client: Dockerode, id: string): Promise<Duplex> {
  const call = {
    method: 'POST',
    path: '/session',
    hijack: true,
    headers: {
      Upgrade: 'h2c',
      'X-Docker-Expose-Session-Uuid': id,
      'X-Docker-Expose-Session-Name': 'twofold',
      'X-Docker-Expose-Session-Grpc-Method': GET_SECRET,
    },
    statusCodes: { 101: true, 200: true, 500: 'server error' },
  };
  return new Promise((resolve, reject) => {
    client.modem.dial(call as never, (error, socket) => {
      if (error) reject(error as Error);
      else resolve(socket as Duplex);
    });
  });
}

/** The definition of one call whose messages are `<name>Request` and `<name>Response`. */
function unary<Request, Response>(path: string, name: string): MethodDefinition<Request, Response> {
  const request = messages.lookupType(`${name}Request`);
  const response = messages.lookupType(`${name}Response`);
  const encode = (type: protobuf.Type) => (value: unknown) =>
    Buffer.from(type.encode(value as object).finish());
  return {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: encode(request),
    requestDeserialize: (bytes) => request.decode(bytes) as unknown as Request,
    responseSerialize: encode(response),
    responseDeserialize: (bytes) => response.decode(bytes) as unknown as Response,
  };
}

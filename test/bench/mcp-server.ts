import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GraphqlModule } from '../../runtime/core/graphql/index.ts';
import { createMcp } from '../../runtime/core/mcp/index.ts';
import { startServer } from '../graphql/harness.ts';
import { MANY, ONE } from './mcp-documents.ts';

// The server of `mcp.ts`, in a process of its own so that its CPU is counted alone.

const root = mkdtempSync(join(tmpdir(), 'bench-mcp-'));
writeFileSync(join(root, 'documents.json'), JSON.stringify([ONE, MANY]));
const server = await startServer(
  'type Post { id: ID! title: String! body: String! } type Query { post(id: ID!): Post posts(limit: Int): [Post!]! } type Mutation { createPost(title: String!, body: String!): Post! }',
  {
    root,
    manifest:
      'name: bench\napi: { access: public, trusted_documents: { required: false }, mcp: { tools: documents } }\n',
    also: (kernel, module) => createMcp({ kernel, service: (module as GraphqlModule).service }),
  },
);
for (let index = 0; index < 100; index++)
  await server.query(
    'mutation { createPost(title: "A title", body: "Some words of a body") { id } }',
  );
process.on('message', () => process.send!(process.cpuUsage()));
process.send!(server.url);

import type { Manifest } from '../parse/manifest.ts';
import type { Finding } from '../parse/places.ts';
import { finding, type Rule } from './finding.ts';

/** Paths of other parts of the server. Everything below them belongs to these parts too. */
const TAKEN = ['/api', '/auth', '/.well-known'] as const;

/**
 * MCP_EXPLORE_UNTRUSTED, MCP_DOCUMENTS_MISSING, MCP_PATH_TAKEN: `api.mcp` must fit what the API
 * runs.
 */
export const mcp: Rule = function* ({ facts: { manifest }, project: { api } }) {
  if (!api.mcp) return;
  yield* pathFindings(manifest, api.mcp.path);
  const { tools } = api.mcp;
  if (tools !== 'documents' && api.trustedDocuments?.required)
    yield finding('MCP_EXPLORE_UNTRUSTED', manifest.at(['api', 'mcp', 'tools']), {
      summary: `api.mcp.tools: ${tools} runs operations that are not in the list of trusted documents`,
      why: 'api.trusted_documents.required lets only those run',
      fix: 'tools: documents',
    });
  if (tools !== 'explore' && !api.trustedDocuments)
    yield finding('MCP_DOCUMENTS_MISSING', manifest.at(['api', 'mcp', 'tools']), {
      summary: `api.mcp.tools: ${tools} makes a tool of each trusted document, and there is no list of them`,
      fix: 'add client: to the manifest, or api.trusted_documents: { file: documents.json }',
    });
};

function* pathFindings({ values, at }: Manifest, path: string): Generator<Finding> {
  const { metrics } = values.observability;
  const others = [
    ...TAKEN,
    values.api.path,
    ...(typeof metrics === 'object' ? [metrics.path] : []),
    ...(values.console ? [values.console.path] : []),
  ];
  const taken = others.find((other) =>
    `${path.toLowerCase()}/`.startsWith(`${other.toLowerCase()}/`),
  );
  if (taken === undefined) return;
  yield finding('MCP_PATH_TAKEN', at(['api', 'mcp', 'path']), {
    summary: `api.mcp.path: ${path} belongs to another part of the server`,
    why: `${taken} answers there`,
    fix: 'path: /mcp',
  });
}

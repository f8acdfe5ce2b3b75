import type { FragmentDefinitionNode, OperationDefinitionNode } from 'graphql';
import type { DocumentText } from './document-text.ts';

/** An operation or a fragment, and the text that contains it. */
export interface FoundDefinition {
  readonly node: OperationDefinitionNode | FragmentDefinitionNode;
  readonly source: DocumentText;
}

import type { ts as TypeScript } from 'ts-morph';
import type { SourceText } from '@twofold/schema';
import type { DocumentText } from './document-text.ts';

/** Files of code in which documents may stand. */
const CODE = /\.[mc]?[jt]sx?$/;

/** What each of the two forms of a document in code begins with. */
const CANDIDATE = /\bgraphql\s*\(|\/\*\s*GraphQL\s*\*\//;

/**
 * The documents of one file: its whole text, or in code the templates of `` graphql(`…`) `` and of
 * `` /* GraphQL *\/ `…` ``. TypeScript is loaded only for a file that seems to have one.
 */
export async function extractTexts(source: SourceText): Promise<DocumentText[]> {
  if (!CODE.test(source.file))
    return [{ ...source, line: 1, column: 1, inCode: false, isStatic: true }];
  if (!CANDIDATE.test(source.text)) return [];
  const { ts } = await import('ts-morph');
  return templatesOf(source, ts);
}

function templatesOf(source: SourceText, ts: typeof TypeScript): DocumentText[] {
  const tree = ts.createSourceFile(source.file, source.text, ts.ScriptTarget.Latest, false);
  const found: DocumentText[] = [];
  const visit = (node: TypeScript.Node, isArgument: boolean) => {
    if (isTemplate(node, ts) && (isArgument || isMarked(node, tree)))
      found.push(textOf(node, { tree, file: source.file, ts }));
    const argument =
      ts.isCallExpression(node) &&
      ts.isIdentifier(node.expression) &&
      node.expression.text === 'graphql'
        ? node.arguments[0]
        : undefined;
    ts.forEachChild(node, (child) => visit(child, child === argument));
  };
  visit(tree, false);
  return found;
}

function isTemplate(
  node: TypeScript.Node,
  ts: typeof TypeScript,
): node is TypeScript.TemplateLiteral {
  return ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node);
}

/** Whether the comment `GraphQL` stands right before the template. */
function isMarked(node: TypeScript.Node, tree: TypeScript.SourceFile): boolean {
  return /\/\*\s*GraphQL\s*\*\/\s*$/.test(tree.text.slice(node.pos, node.getStart(tree)));
}

function textOf(
  node: TypeScript.TemplateLiteral,
  { tree, file, ts }: { tree: TypeScript.SourceFile; file: string; ts: typeof TypeScript },
): DocumentText {
  const start = tree.getLineAndCharacterOfPosition(node.getStart(tree) + 1);
  const isStatic = ts.isNoSubstitutionTemplateLiteral(node);
  return {
    file,
    text: isStatic ? node.text : node.head.text,
    line: start.line + 1,
    column: start.character + 1,
    inCode: true,
    isStatic,
  };
}

/*
 * The part of vscode-languageserver-types that the GraphQL language service uses. `build.ts` puts it
 * in place of the package, of which a bundle would have every byte (8 kB packed).
 */
export const InsertTextFormat = { PlainText: 1, Snippet: 2 } as const;
export const InsertTextMode = { asIs: 1, adjustIndentation: 2 } as const;

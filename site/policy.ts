import { createHash } from 'node:crypto';

/**
 * Adds a Content-Security-Policy to a page: everything comes from the site itself, and the inline
 * scripts of VitePress run because the policy has their hashes. Its few `style` attributes, which
 * the policy refuses, are in the style sheet of the site.
 */
export function withPolicy(page: string): string {
  const html = page.replaceAll(/(<[a-z][^>]*?) style="[^"]*"/g, '$1');
  const scripts = [...html.matchAll(/<script(?![^>]*\ssrc=)([^>]*)>([^]*?)<\/script>/g)]
    .filter(([, attributes = '']) => !/type="(?!module)/.test(attributes))
    .map(([, , text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`);
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${[...new Set(scripts)].join(' ')}`.trim(),
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return html.replace(
    '<meta charset="utf-8">',
    `<meta charset="utf-8">\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`,
  );
}

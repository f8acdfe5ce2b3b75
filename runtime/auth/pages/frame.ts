import { html, Html, type HtmlValue } from '../mails/html.ts';
import { FORM_TOKEN } from './cookies.ts';
import type { FormState, PageRequest, View } from './page.ts';

/** The parts of the frame around a page. */
export interface FrameOptions {
  readonly view: View;
  readonly form: FormState;
  /** A message of the page before. */
  readonly notice: string | null;
  readonly assets: {
    readonly style: string;
    readonly script: string;
    readonly logo: string | null;
  };
}

/**
 * Not a part of the template: the bundler of the packs would compile a tagged template with it to a
 * call of its own package.
 */
const SCRIPT_END = new Html('</script>');

/** The whole document: header with the project's name, one landmark for the content. */
export function renderFrame(
  request: PageRequest,
  { view, form, notice, assets }: FrameOptions,
): Html {
  const { t, locale, auth } = request;
  const app = auth.project.name;
  return html`<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${view.title} · ${app}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets.style}">${
    view.script && html`\n<script type="module" src="${assets.script}">${SCRIPT_END}`
  }
</head>
<body>
<header class="top">
<a class="brand" href="${request.path(request.signedIn ? 'account' : 'sign-in')}">${
    assets.logo === null ? app : html`<img src="${assets.logo}" alt="${app}" height="32">`
  }</a>${request.signedIn && signOut(request)}
</header>
<main class="${view.wide ? 'card wide' : 'card'}">
<h1>${view.title}</h1>
${notice && html`<p class="notice" role="status">${notice}</p>\n`}${alertOf(form, t.check_fields)}${view.body}
</main>
</body>
</html>
`;
}

/**
 * The message above a form. It includes the number of fields with errors, so that a screen reader
 * announces it.
 */
function alertOf({ alert, errors }: FormState, checkFields: string): HtmlValue {
  const text = alert ?? (Object.keys(errors).length > 0 ? checkFields : null);
  return text && html`<p class="alert" role="alert">${text}</p>\n`;
}

function signOut(request: PageRequest): Html {
  const action = request.path('account');
  return html`
<form class="inline" method="post" action="${action}">${hidden(request)}<input type="hidden" name="do" value="sign-out"><button class="quiet">${request.t.sign_out}</button></form>`;
}

/** The hidden field that every form has. */
export function hidden({ cookies, koa }: PageRequest): Html {
  return html`<input type="hidden" name="${FORM_TOKEN}" value="${cookies.formToken(koa)}">`;
}

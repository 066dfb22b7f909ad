const css = `
:host { all: initial; position: fixed; inset: auto 8px 8px auto; margin: 0; border: 0; padding: 0; background: none; }
details {
  width: min(26rem, calc(100vw - 16px)); max-height: 70vh; overflow: auto; box-sizing: border-box; padding: 8px 12px;
  font: 12px/1.45 ui-monospace, Consolas, monospace; color: #e8ebf5; background: #12151fee; border: 1px solid #3b415a; border-radius: 8px;
}
summary { cursor: pointer; font-weight: 700; color: #ffc857; }
h2 { margin: 10px 0 2px; font: inherit; font-weight: 700; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0 10px; margin: 0; }
dt { color: #a9b1cc; }
dd { margin: 0; overflow-wrap: anywhere; }
`;

/** A constructed sheet, because a strict `style-src` refuses style elements and attributes. */
export function panelStyle(): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
}

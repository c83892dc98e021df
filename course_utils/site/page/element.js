// What the scripts of the pages share: an element with its content and attributes. `onclick` is a function; false leaves an attribute out.
"use strict";

function element(name, content = "", attributes = {}) {
  const made = document.createElement(name);
  made.append(...[content].flat());
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") made.addEventListener("click", value);
    else if (value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  return made;
}

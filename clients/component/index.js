/** Both return the component as it is: they are for types. */
export const defineSource = component => component;
export const defineAction = component => component;

model Words
  String mode = if time > 0.5 then "heating" else "off";
  Real q = if mode == "heating" then 1000 else 0;
end Words;
